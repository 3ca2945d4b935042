"""How a call comes in: from DuckDB, from Python, from the shell. A face has no logic of its own."""
