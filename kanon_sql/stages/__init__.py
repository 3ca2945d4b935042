"""What runs inside the SQL, one module per function that DuckDB calls (see udfs/)."""
