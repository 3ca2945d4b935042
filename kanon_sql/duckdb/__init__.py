"""What register() makes of a connection of DuckDB, its catalog, and the queries that run on it."""
