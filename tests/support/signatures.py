"""The keywords of the Python functions as source text, made from the registry of options.

``GOLDEN=write pytest tests/api/test_signatures.py`` writes it into
kanon_sql/api/keywords.py. An option is taken as what its check reads; see TYPES.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from kanon_sql.api.comparison import VARIED
from kanon_sql.call.ledger_options import whole_or_auto
from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.option import LEDGER_CHECK
from kanon_sql.validators import number_or_best, ranking, relation, texts, words_of

HEADING = '''"""The options of the Python functions, each set of them as a TypedDict.

Made from the registry of options, and not to be edited:
``GOLDEN=write pytest tests/api/test_signatures.py`` writes it anew. An option of None is one
that isn't given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict
'''

CALLS = (*ALL_CALLS, LEDGER_CHECK, "hierarchy")
"""The functions that are calls of SQL with a relation."""

SETS = {
    "SharedKeywords": ("anonymize_clusters", None, "all that group rows, but for k and the method"),
    "GroupingKeywords": ("anonymize_clusters", "SharedKeywords", "all that group rows"),
    "ReleaseKeywords": ("anonymize", "GroupingKeywords", "anonymize, and of what tells of it"),
    "MetricsKeywords": ("anonymize_metrics", "ReleaseKeywords", "anonymize_metrics"),
    "ComparedKeywords": ("anonymize_metrics", "SharedKeywords", "compare"),
    "AnonymityKeywords": ("k_anonymity", None, "k_anonymity"),
    "AuditKeywords": ("anonymize_audit", None, "anonymize_audit"),
    "RiskKeywords": ("anonymize_risk", None, "anonymize_risk"),
    "LedgerKeywords": ("ledger_check", None, "ledger_check"),
    "HierarchyKeywords": ("hierarchy", None, "hierarchy"),
}
"""The classes: a call that has these options, the class of which it has all, and whose they are."""

BUT = {"SharedKeywords": VARIED, "ComparedKeywords": VARIED}
"""The options of the call that a class hasn't."""

BY_CHECK = {
    texts: "str | Sequence[Any]", ranking: "Sequence[Any]", relation: "Any",
    number_or_best: 'float | Literal["best"]', whole_or_auto: 'int | Literal["auto"]',
}
"""What the option of a check takes, where that isn't what the check gives."""

TYPES = {
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "float | str": "float | str",
    "Decimal": "float | Decimal",
    "tuple[str, ...]": "str | Sequence[str]",
    "str | dict[str, str]": "str | Mapping[str, str]",
    "dict[str, float]": "Mapping[str, float]",
    "float | dict[str, float]": "float | Mapping[str, float]",
    "float | dict[str, Any]": "float | Mapping[Any, Any]",
    "dict[str, tuple[float, float]]": "Mapping[str, Sequence[float]]",
    "dict[str, str | dict[str, Any]]": 'Mapping[str, Any] | Literal["suggested"]',
    "tuple[tuple[float, float], ...]": "Sequence[Sequence[float]]",
}
"""What a user may give for what a check makes of it. A check with a new form is added here."""


def word(name: str) -> str:
    """What the words of an option are called: those of diversity_kind DiversityKindName."""
    return name.title().replace("_", "") + "Name"


def of_kinds() -> dict[str, Any]:
    """The options of the kinds of hierarchies, by name."""
    return {name: known for kind in KINDS.values() for name, known in kind.options.items()}


def words() -> dict[str, tuple[str, ...]]:
    """The words that options take, by the names of their types."""
    known = {**of_kinds(), **OPTIONS}
    found = {word(name): words_of(option.check) for name, option in known.items()}
    return {"KindName": tuple(KINDS), **{name: taken for name, taken in found.items() if taken}}


def taken(name: str, option: Any) -> str:
    """The annotation of an option: of a call, of a method, or of a kind of hierarchy."""
    if getattr(option, "relation", False):
        return "Any"  # a name, a path, or a frame
    found = BY_CHECK.get(option.check) or TYPES[option.check.__annotations__["return"]]
    return found.replace("str", word(name)).replace(
        f"Mapping[{word(name)}", "Mapping[str"
    ) if words_of(option.check) else found


def options_of_call(call: str) -> Iterator[tuple[str, str]]:
    """Name and annotation of each option of a call, in the order of the registry."""
    if call == "hierarchy":
        yield "kind", "KindName"
        yield from ((name, taken(name, option)) for name, option in of_kinds().items())
        return
    for option in OPTIONS.values():
        if call in option.calls:
            yield option.name, taken(option.name, option)


def alias(name: str, known: tuple[str, ...]) -> str:
    """The type of some words."""
    listed = ", ".join(f'"{each}"' for each in known)
    line = f"{name} = Literal[{listed}]"
    if len(line) <= 100:
        return line
    lines = textwrap.wrap(listed, 95, break_on_hyphens=False, break_long_words=False)
    return "\n".join([f"{name} = Literal[", *(f"    {each}" for each in lines)]) + ",\n]"


def options_of_set(name: str) -> dict[str, str]:
    """Name and annotation of each option of a class, with those that it inherits."""
    return {
        option: kind for option, kind in options_of_call(SETS[name][0])
        if option not in BUT.get(name, ())
    }


def keywords(name: str) -> str:
    """One class."""
    _, base, whose = SETS[name]
    inherited = options_of_set(base) if base else {}
    own = {o: kind for o, kind in options_of_set(name).items() if o not in inherited}
    return "\n".join([
        f"class {name}({base or 'TypedDict'}, total=False):",
        f'    """The options of {whose}."""',
        "",
        *(f"    {option}: {kind} | None".replace("Any | None", "Any")
          for option, kind in own.items()),
    ])


def source() -> str:
    """The whole module."""
    aliases = "\n".join(alias(*item) for item in sorted(words().items()))
    return "\n\n\n".join([HEADING + "\n" + aliases, *map(keywords, SETS)]) + "\n"
