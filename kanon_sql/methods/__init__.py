"""The methods: one folder per family of papers, one dictionary that lists them.

A method is a function ``(points, k, options, watch) -> Grouping``. It knows neither DuckDB nor
Polars. Its module is imported when the method is first used, since that loads the compiler.
"""

from __future__ import annotations

from kanon_sql.methods import (
    cell_generalization,
    centers,
    k_member,
    local_search,
    microaggregation,
    recoding,
    single_attribute,
)
from kanon_sql.methods.method import Method
from kanon_sql.points.points import Grouping, Points

__all__ = ["METHODS", "Grouping", "Method", "Points"]

METHODS: dict[str, Method] = {
    method.name: method
    for family in (
        microaggregation, local_search, k_member, recoding, centers, cell_generalization,
        single_attribute,
    )
    for method in family.METHODS
}
