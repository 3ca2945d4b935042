"""The words that options take, and what each means."""

from __future__ import annotations

REPRESENTATIONS = {
    "centroid": "the exact mean of numbers and times (of dates the nearest day), and the most "
    "frequent value of other columns",
    "rounded": "the centroid in the column's own type and precision: a mean of integers is an "
    "integer, 50.3 keeps one decimal, a timestamp its unit; halves go to the even neighbor "
    "(a DECIMAL's mean is a DOUBLE)",
    "median": "the (lower) median of ordered values, and the most frequent value of other columns",
    "interval": "VARCHAR: '[20, 29]', '{Private, State-gov}', or the value if all rows agree",
    "bounds": "STRUCT(min, max) of ordered values, and a LIST of the distinct values of other "
    "columns",
    "suppress": "the value if all rows agree, else '*' in text columns and NULL in other columns",
    "number": "the number of the class (methods for one attribute only)",
    "hierarchy": "VARCHAR: the label of the lowest common ancestor in the column's hierarchy",
}
POINTS = ("centroid", "rounded", "median")
MEANS = ("centroid", "rounded")
"""Those that count rows by their weights."""
EFFORTS = {
    "fast": "does not search",
    "balanced": "runs a local search",
    "thorough": "searches about eight times as many steps, or with method 'auto' may run the "
    "method best (up to 100,000 rows)",
}
OTHERS = {
    "error": "rejects the call and names them",
    "quasi_identifier": "generalizes them",
    "drop": "leaves them out",
    "release": "releases them unchanged",
}
ENTITY_ROWS = {
    "together": "in one class, which has at least k persons",
    "apart": "in several classes, at most one k-th of the rows of each",
}
NULLS = ("value", "suppress", "error")

DISTANCES = {
    "sse": "squared distance of standardized values",
    "loss": "information loss: difference / range for numbers, height of the lowest common "
    "ancestor / height of the hierarchy for categories",
}
LOSSES = {
    "range_flat": "height of the lowest common ancestor / height of the hierarchy, or without a "
    "hierarchy 1 unless all rows of the class agree",
    "range_distinct": "(values - 1) / (values of the column - 1), where the values are those of "
    "the class, or with a hierarchy the mean number below a node at the level of the lowest common "
    "ancestor",
}
EFFORT_OF = {"none": "fast", "local": "balanced", "by estimate": "by an estimate of the time"}
"""What a call that gives no effort does, by the word of its task for it."""
