"""What files and Spark refuse of what a query can, by the cases of engine_cases.py, as a table of
docs/engines.md. tests/blocks and tests/spark hold both lists against releases."""

from __future__ import annotations

from tests.support.engine_cases import BASE, CASES

NOT_IN_FILES = {
    "t with suppress": "the shares depend on the released rows, which are known only after all "
    "blocks",
    "mean risk, apart": "a person may be in several blocks, and would count in each",
    "refine_seconds": "a resumed run would produce other bytes",
    "mondrian": "the method groups all rows as one",
    "full_domain": "the method groups all rows as one",
}
NOT_IN_SPARK = {
    **NOT_IN_FILES,
    "suggested hierarchies": "they follow from all rows",
    "keep_order": "a DataFrame has no order",
}
"""By case, why."""


def _asked(case: str) -> str:
    """The options of a case as one would write them."""
    given = ((n, v) for n, v in CASES[case].items() if BASE.get(n) != v)
    return ", ".join(f"`{name} := {_written(value)}`" for name, value in given) or "none"


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        pairs = ", ".join(f"'{name}': {_written(each)}" for name, each in value.items())
        return f"{{{pairs}}}"
    return f"[{', '.join(map(_written, value))}]" if isinstance(value, list) else repr(value)


def shown() -> str:
    """What each engine makes of each case."""
    rows = ["| case | options in addition to k | query | files | Spark |", "|---|---|---|---|---|"]
    for case in CASES:
        files, spark = (
            f"refused: {refused[case]}" if case in refused else "yes"
            for refused in (NOT_IN_FILES, NOT_IN_SPARK)
        )
        if files == spark != "yes":
            spark = "refused, too"
        rows.append(f"| {case} | {_asked(case)} | yes | {files} | {spark} |")
    return "\n".join(rows)
