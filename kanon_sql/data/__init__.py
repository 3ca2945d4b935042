"""The table of the demo and the examples."""

from __future__ import annotations

from importlib.resources import files


def adult() -> str:
    """The path of UCI Adult as Parquet: 30,162 complete rows, nine columns (CC BY 4.0).

    Source: Becker and Kohavi, UCI Machine Learning Repository, doi 10.24432/C5XW20; the extract
    that ARX benchmarks use.
    """
    return str(files(__name__).joinpath("adult.parquet"))
