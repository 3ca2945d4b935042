"""Runs all attacks and prints the table: ``python -m tests.attacks``."""

from __future__ import annotations

from tests.attacks.table import measured, table

if __name__ == "__main__":
    print(table(measured()))
