"""A random case from a seed."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any

from tests.fuzz.case import Case, Column
from tests.fuzz.columns import DENSE, EXTREMES, REFUSED, column, names
from tests.fuzz.options import DRAWERS, GARBAGE, METHODS, MODELS, OF_METHOD, TOGETHER, Roles

ANY = tuple(EXTREMES)
GENTLE = (*DENSE, "BOOLEAN", "VARCHAR", "INTEGER")
SIZES = ((4, 20), (10, 60), (10, 60), (20, 60), (80, 200))
OF_SPARK = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)",
    "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "BLOB",
)
"""Types that Spark reads from Parquet as they are."""
TINY = ((0, 0), (1, 1), (1, 3))
"""How many rows there are: a least and a most."""

UNSAID = re.compile(r"\bBIT\b|\bUNION\([^)]*\)")
FAR = {value for type in ("HUGEINT", "UHUGEINT") for value in EXTREMES[type] if len(value) > 38}

SPICE = (
    "column_weights", "suppress", "nulls", "seed", "effort", "representation", "class_id",
    "keep_order", "hierarchies", "categorical", "distance", "loss", "refine_steps", "block_rows",
    "sensitive_nulls", "max_average_risk", "class_label", "sensitive_values", "max_risk",
    "refine_seconds", "small_parts", "diversity_kind", "c", "closeness", "beta_kind", "progress",
    "sampling_weight", "headroom", "k_map", *MODELS, *MODELS, "representation", "nulls",
)
"""Options of which a case has some."""


def owners(random: Random, name: str, rows: int) -> Column:
    """A column that says whose row a row is: persons with one row or several."""
    many = max(1, rows // random.choice((1, 2, 3)))
    type = random.choice(("INTEGER", "VARCHAR", "BIGINT", "UUID"))
    start = 2**62 if type == "BIGINT" else 500

    def key(person: int) -> str:
        if type == "UUID":
            return f"00000000-0000-0000-0000-{person:012}"
        return f"Zqx-person {person}" if type == "VARCHAR" else str(start + person)

    return Column(name, type, tuple(key(random.randrange(many)) for _ in range(rows)))


def parts(random: Random, name: str, rows: int) -> Column:
    """A column with few values, which divides the rows."""
    column_type = random.choice(("VARCHAR", "INTEGER", "DATE", "BOOLEAN", "DOUBLE"))
    known: tuple[str | None, ...] = {
        "VARCHAR": ("north", "south", "", None, "*"), "INTEGER": ("1", "2", None),
        "DATE": ("2024-01-01", "2024-01-02"), "BOOLEAN": ("true", "false", None),
        "DOUBLE": ("0.0", "-0.0", "nan", None),
    }[column_type]
    pool = known[: random.randint(1, len(known))]
    odds = [random.choice((1, 1, 3)) for _ in pool]
    return Column(name, column_type, tuple(random.choices(pool, odds, k=rows)))


def sensitive_column(random: Random, name: str, rows: int) -> Column:
    """A sensitive column: mostly of few values, so that models can be kept."""
    if random.random() < 0.3:
        return column(random, name, rows, ANY if random.random() < 0.7 else tuple(REFUSED))
    kind = random.choice(("VARCHAR", "INTEGER", "BOOLEAN", "DOUBLE", "DATE"))
    known = {
        "VARCHAR": ("Flu Zqx9", "Cold", "HIV", "Gout", "flu"), "INTEGER": ("1", "2", "3", "30"),
        "BOOLEAN": ("true", "false"), "DOUBLE": ("0.5", "1", "2", "nan"),
        "DATE": ("2024-01-01", "2024-06-01", "2023-01-01"),
    }[kind]
    pool: list[str | None] = list(known[: random.randint(1, len(known))])
    if random.random() < 0.2:
        pool.append(None)
    return Column(name, kind, tuple(random.choice(pool) for _ in range(rows)))


def quasi_columns(random: Random, called: list[str], rows: int) -> list[Column]:
    """The quasi-identifiers; now and then two columns are the same, or one determines another."""
    roll = random.random()
    types = GENTLE if roll < 0.4 else ANY if roll < 0.97 else (*ANY, *REFUSED)
    found = [column(random, name, rows, types) for name in called]
    if len(found) > 1 and random.random() < 0.1:
        found[0] = Column(found[0].name, found[1].type, found[1].values)
    return found


def case_of(seed: int, doors: tuple[str, ...]) -> Case:
    """The case of a seed."""
    random = Random(seed)
    low, high = random.choice(SIZES if random.random() < 0.92 else TINY)
    door = random.choice(doors)
    if door == "files" and random.random() < 0.6:
        low, high = 150, 500
    rows = random.randint(low, high)
    width, passing = random.choice((1, 2, 2, 3, 4)), random.choice((0, 1, 1, 2))
    extra = random.sample(("identifier", "entity", "within", "nobody"), random.choice((0, 0, 1, 2)))
    called = names(random, width + passing + len(extra))
    quasi = quasi_columns(random, called[:width], rows)
    sensitive = [sensitive_column(random, name, rows) for name in called[width:width + passing]]
    others = {
        role: (parts if role == "within" else owners)(random, name, rows)
        for role, name in zip(extra, called[width + passing:], strict=True)
    }
    columns = [*quasi, *sensitive, *others.values()]
    if door in ("function", "frame"):
        # DuckDB hands a HUGEINT to Arrow as DECIMAL(38, 0), a BIT as the bytes that it keeps, and a
        # NULL of a member of a UNION as no value
        columns = [replace(c, type=UNSAID.sub("VARCHAR", c.type), values=tuple(
            "0" if v in FAR else v for v in c.values
        )) for c in columns]
    if door == "spark":
        columns = [c if c.type in OF_SPARK else replace(c, type="VARCHAR") for c in columns]
    random.shuffle(columns)
    quasi = [c for c in columns if c.name in called[:width]]
    roles = Roles(
        tuple(c.name for c in quasi), tuple(c.name for c in sensitive),
        {c.name: c.type for c in columns}, {c.name: c.values for c in columns}, rows,
    )
    options: dict[str, Any] = {
        "quasi_identifiers": list(roles.quasi), "k": DRAWERS["k"](random, roles),
    }
    if sensitive:
        options["sensitive"] = list(roles.sensitive)
    if "identifier" in others:
        options["identifiers"] = [others["identifier"].name]
    if "entity" in others:
        options["entity"] = others["entity"].name
        if random.random() < 0.3:
            options["entity_rows"] = random.choice(("together", "apart"))
    if "within" in others:
        options["within"] = [others["within"].name]
    if "nobody" in others or random.random() < 0.1:
        options["others"] = random.choice(("drop", "release", "quasi_identifier"))
    sound = _spiced(random, options, roles) and rows >= options["k"] and not others and all(
        c.type in EXTREMES and not {"inf", "-inf", "infinity", "-infinity"} & set(c.values)
        for c in quasi
    ) and door in ("query", "function")
    # a frame would lose the zone
    sound = sound and not (door == "function" and any("TIMETZ" in c.type for c in columns))
    if options.get("class_id") and "class_id" in roles.types:
        options["class_id"] = False  # the release then has two columns of the name
    tables = {}
    if "k_map" in options:
        options["population"] = "people"
        tables["people"] = tuple(
            Column(c.name, c.type, c.values * 3) for c in columns
        )
    said = random.choice(("options", "options", "options", "relation", "comments"))
    said = said if door == "query" or (door == "function" and said == "relation") else "options"
    if not columns[0].values:
        sound = False
    return Case(tuple(columns), options, door, said, tables, sound)


def _spiced(random: Random, options: dict[str, Any], roles: Roles) -> bool:
    """Adds a few options; whether none of them may be a reason to refuse the call."""
    if random.random() < 0.75:
        options["method"] = DRAWERS["method"](random, roles)
    chosen = dict.fromkeys(random.sample(SPICE, random.choice((0, 1, 1, 2, 2, 3, 5))))
    if random.random() < 0.4:
        for name in OF_METHOD.get(options.get("method", ""), ()):
            if random.random() < 0.5:
                chosen[name] = None
    for name in list(chosen):
        for other in TOGETHER.get(name, ()):
            if random.random() < 0.95 and other in DRAWERS:
                chosen[other] = None
    if not roles.sensitive and random.random() < 0.9:
        chosen = {name: None for name in chosen if name not in (
            *MODELS, "class_label", "sensitive_values", "sampling_weight", "diversity_kind", "c",
            "closeness", "beta_kind",
        )}
    if "max_risk" in chosen and random.random() < 0.9:
        options.pop("k")
    for name, role in (("headroom", "ledger"), ("small_parts", "within")):
        if role not in options and random.random() < 0.95:
            chosen.pop(name, None)
    if "within" in options and random.random() < 0.5:
        chosen["small_parts"] = None
    for name in chosen:
        options[name] = DRAWERS[name](random, roles)
    if options.get("diversity_kind") == "recursive" and random.random() < 0.9:
        options.setdefault("c", DRAWERS["c"](random, roles))
    garbled = random.random() < 0.04
    if garbled:
        victim = random.choice((*DRAWERS, *options))
        options[victim] = random.choice(GARBAGE)
    harmless = {"quasi_identifiers", "sensitive", "k", "method", "column_weights", "seed",
                "representation", "class_id", "keep_order", "progress", "others"}
    plain = not set(options) - harmless and options.get("method", "auto") in METHODS[:9]
    plain = plain and not garbled and isinstance(options.get("k"), int)
    return plain and options.get("representation") in (
        None, "centroid", "median", "interval", "bounds", "suppress", "rounded"
    )
