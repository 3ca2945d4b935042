"""The SQL that a call becomes. Text only: no data, no connection."""
