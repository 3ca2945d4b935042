"""The words that options take, and what each means."""

from __future__ import annotations

REPRESENTATIONS = {
    "centroid": "the mean of numbers, dates and times, the most frequent value of all others",
    "rounded": "the centroid in the column's own type, the mean of integers rounded",
    "median": "the (lower) median of ordered values, the most frequent value of all others",
    "interval": "text: '[20, 29]', '{Private, State-gov}', or the value where all agree",
    "bounds": "STRUCT(min, max) of ordered values, a LIST of the distinct values of all others",
    "suppress": "the value where all agree, else '*' in columns of text and NULL in all others",
    "number": "the number of the class (methods of one attribute only)",
    "hierarchy": "text: the label of the lowest common ancestor in the column's hierarchy",
}
POINTS = ("centroid", "rounded", "median")
MEANS = ("centroid", "rounded")
"""Those that count rows by their weights."""
EFFORTS = {
    "fast": "no search",
    "balanced": "a local search",
    "thorough": "about eight times as many steps; with method 'auto', the method best where "
    "there are few rows",
}
OTHERS = {
    "error": "refuses the call and names them",
    "quasi_identifier": "generalizes them",
    "drop": "leaves them out",
    "release": "lets them pass unchanged",
}
ENTITY_ROWS = {
    "together": "all rows of a person are in one class, and every class has k persons or more",
    "apart": "a person's rows may be in several classes, and are at most one k-th of each",
}
NULLS = ("value", "suppress", "error")

DISTANCES = {
    "sse": "squared distances between standardized values, as the MDAV family needs them",
    "loss": "information loss: a number's difference over its range, a category's lowest common "
    "ancestor over the height of its hierarchy",
}
LOSSES = {
    "range_flat": "categories lose the height of the lowest common ancestor over that of the "
    "hierarchy, without one 1 unless all of a class agree",
    "range_distinct": "they lose (values - 1) / (values of the column - 1), of the class or below "
    "its ancestor (each level of a hierarchy counts what its nodes have on average)",
}
EFFORT_OF = {"none": "fast", "local": "balanced", "by size": "by the number of rows"}
"""What a call that gives no effort does, by the word of its task for it."""
