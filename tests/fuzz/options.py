"""A random value for every option of the registry: a fitting one mostly, and now and then one that
nobody should give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

METHODS = (
    "auto", "mdav", "mdav_plus", "v_mdav", "mdav_star", "k_member", "nearest", "mondrian",
    "forest", "r_gather", "r_cellular",
)
"""Methods that take any columns."""
ODD_METHODS = (
    "best", "pairs", "triples", "full_domain", "optimal_1d", "fold", "spread", "five_halves",
    "bin_cover", "ordered", "gps_rectangles", "zip_regions", "cellular",
)
FORMS = ("centroid", "rounded", "median", "interval", "bounds", "suppress")
KINDS = ("prefix", "flat", "bins", "date", "cover", {"kind": "prefix", "levels": 2})


@dataclass(frozen=True)
class Roles:
    """What the options of a case are about: columns by their roles, and how many rows there are."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    types: Mapping[str, str]
    values: Mapping[str, tuple[str | None, ...]]
    rows: int

    def some(self, random: Random, names: tuple[str, ...]) -> list[str]:
        """Some of the columns, at least one."""
        return random.sample(names, random.randint(1, len(names))) if names else ["c0"]

    def seen(self, random: Random) -> str:
        """A value of a sensitive column, or one that it doesn't have."""
        known = [v for name in self.sensitive for v in self.values[name] if v is not None]
        return random.choice(known) if known and random.random() < 0.9 else "nowhere"


Drawer = Callable[[Random, Roles], Any]


def _limit(*values: float) -> Drawer:
    """A threshold, or one for each of some sensitive columns."""
    def draw(random: Random, roles: Roles) -> Any:
        if len(roles.sensitive) != 1 or random.random() < 0.2:
            return {name: random.choice(values) for name in roles.some(random, roles.sensitive)}
        return random.choice(values)
    return draw


def _one(*values: Any) -> Drawer:
    return lambda random, roles: random.choice(values)


def _alpha(random: Random, roles: Roles) -> Any:
    plain = _limit(0.9, 0.7, 0.5, 1, 0.123456)(random, roles)
    if random.random() < 0.7 or not roles.sensitive:
        return plain
    column = random.choice(roles.sensitive)
    return {column: {roles.seen(random): random.choice((0.3, 0.6, 1)) for _ in range(2)}}


def _weights(random: Random, roles: Roles) -> Any:
    return {n: random.choice((0, 0.5, 1, 2, 100.0)) for n in roles.some(random, roles.quasi)}


def _representation(random: Random, roles: Roles) -> Any:
    if random.random() < 0.6:
        return random.choice(FORMS)
    chosen = {n: random.choice(FORMS) for n in roles.some(random, roles.quasi)}
    return {**chosen, "*": random.choice(FORMS)} if random.random() < 0.7 else chosen


def _hierarchies(random: Random, roles: Roles) -> Any:
    if random.random() < 0.15:
        return "suggested"
    names = roles.some(random, (*roles.quasi, *roles.sensitive) if random.random() < 0.3
                       else roles.quasi)
    return {name: random.choice(KINDS) for name in names}


DRAWERS: dict[str, Drawer] = {
    "categorical": lambda random, roles: roles.some(random, roles.quasi),
    "class_label": lambda random, roles: random.choice(roles.sensitive or ("c0",)),
    "k": _one(1, 2, 2, 3, 3, 4, 5, 7),
    "method": lambda random, roles: random.choice(
        METHODS if random.random() < 0.85 else ODD_METHODS
    ),
    "distance": _one("sse", "loss"),
    "loss": _one("range_flat", "range_distinct"),
    "column_weights": _weights,
    "suppress": _one(0, 0.05, 0.1, 0.3, 0.5, 1.0),
    "nulls": _one("value", "suppress", "error"),
    "seed": _one(0, 1, 2, 12345, 2**63 - 1),
    "effort": _one("fast", "balanced", "balanced", "thorough"),
    "refine_steps": _one(0, 1, 100, 2000),
    "refine_seconds": _one(0.01, 0.2),
    "block_rows": _one(1, 50, 100, 150, 200, 10**12),
    "l": _limit(2, 2, 3, 4, 2.5),
    "diversity_kind": _one("distinct", "entropy", "recursive"),
    "c": _limit(1, 2, 3, 0.5, 10),
    "t": _limit(0.1, 0.2, 0.3, 0.5, 0.7, 1),
    "closeness": _one("equal", "ordered", "numeric", "hierarchy"),
    "alpha": _alpha,
    "delta": _limit(0.5, 1, 1.5, 3, 10),
    "beta": _limit(0.5, 1, 2, 5, 20),
    "beta_kind": _one("basic", "enhanced"),
    "sensitive_nulls": _one("worst", "value"),
    "max_average_risk": _one(0.05, 0.1, 0.25, 0.333333, 1),
    "k_map": _one(1, 2, 3, 5, 10),
    "hierarchies": _hierarchies,
    "representation": _representation,
    "class_id": _one(True, True, False),
    "keep_order": _one(True, False),
    "sensitive_values": lambda random, roles: [roles.seen(random) for _ in range(2)],
    "max_risk": _one(0.5, 0.34, 0.2, 1),
    "sampling_weight": lambda random, roles: random.choice(roles.sensitive or ("c0",)),
    "progress": _one(True, False),
    "show_values": _one(False),
    "small_parts": _one("error", "suppress", "suppress", "join", "join"),
    "attacker": _one("knows_presence", "knows_absence"),
    "headroom": _one(0, 1, 2, "auto"),
    "gamma": _one("best", 0, 0.5, 1.1),
    "start": _one("random", "first", "center", "farthest"),
    "class_penalty": _one(0, 1, 5),
    "diversity_preference": _one("all", "sensitive"),
    "diversity_penalty": _one(0, 1, 10),
    "partitioning": _one("strict", "relaxed"),
    "metric": _one("euclidean", "hamming", "taxonomy", "haversine"),
    "centers": _one("anywhere", "means", "rows"),
    "epsilon": _one(0, 0.1, 0.5),
    "max_clusters": _one(1, 2, 5, 100),
    "facility_cost": _one(0.1, 1, 100),
    "allow_small": _one(True, False),
    "max_diameter": _one(0.5, 3, 100),
    "islands": _one("error", "suppress", "nearest"),
    "extent": lambda random, roles: {n: [-10000, 10000] for n in roles.quasi[:2]},
    "tight": _one(True, False),
    "wkt": _one(True, False),
    "sequence": _one("sorted", "random"),
    "objective": _one("largest", "quadratic"),
}
"""By the name of an option, what draws a value of it."""

ELSEWHERE = {
    "quasi_identifiers": "a role", "sensitive": "a role", "identifiers": "a role",
    "entity": "a role", "within": "a role", "others": "a role", "roles": "a role",
    "entity_rows": "goes with a role", "population": "a table that draw.py makes",
    "ledger": "ledgers.py draws lives of persons",
    "adjacency": "tests/methods has graphs",
    "places": "tests/methods has maps",
}
"""Options that aren't drawn here, and where they are."""

OF_METHOD = {
    "v_mdav": ("gamma",), "mondrian": ("partitioning",), "full_domain": ("hierarchies",),
    "k_member": ("start", "class_penalty", "diversity_preference", "diversity_penalty"),
    "r_gather": ("metric", "centers", "epsilon", "max_clusters"),
    "r_cellular": ("metric", "centers", "epsilon", "max_diameter"),
    "best": ("refine_steps",),
    "gps_rectangles": ("extent", "tight", "wkt"), "fold": ("sequence",), "spread": ("sequence",),
    "bin_cover": ("epsilon",), "ordered": ("objective",),
}
"""Options that go with a method."""

TOGETHER = {
    "diversity_kind": ("l",), "c": ("l", "diversity_kind"),
    "beta_kind": ("beta",), "refine_steps": ("effort",), "refine_seconds": ("effort",),
    "k_map": ("population",), "loss": ("distance",), "class_penalty": ("class_label",),
    "diversity_penalty": ("diversity_preference",), "closeness": ("t",),
}
"""Options that mean nothing without others."""

MODELS = ("l", "t", "alpha", "delta", "beta")

GARBAGE: tuple[Any, ...] = (
    None, "", " ", -1, 0, 1.5, 1e308, float("nan"), float("inf"), 2**64, True, [], [""], {},
    "\u0000", "x" * 5000, "'", '"', "NULL", ["c0", "c0"], {"c0": "c0"}, {" ": 1}, [[1]], {"a": {}},
    "kn\u043ewn", "auto ", -(2**63), [None], {"*": None}, "__kanon_not_given", "\U0001f600",
)
"""Values that no option, or hardly one, should be given."""
