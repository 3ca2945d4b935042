"""How fast kanon_sql is, how much memory it takes and what it loses: ``python -m benchmarks``."""
