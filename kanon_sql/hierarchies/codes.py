"""Which columns hold codes, and which kind of hierarchy fits a column.

Names weigh and values decide: a column named ``zip`` that holds ages is none, and one named ``x``
that holds few numbers of five digits is one. Everything follows from a few aggregates over all
rows, so that the order of the rows means nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kanon_sql.hierarchies.kinds import DATED, SUGGESTED

LEAST_ROWS, NEARLY = 50, 0.9
"""From so many values on, a column tells rows apart where so large a share of them differs: as in
kanon_sql/encode/identifier_detection.py."""
FEW_VALUES = 20
"""So few values need no groups between themselves and the root."""
ROWS_A_VALUE = 5
"""Numbers with no name of a code are codes only where so many rows have each, on average."""
SPARSE = 20
"""And where their range would hold so many times as many."""
LONGEST = 12
"""The most characters of a code."""

CODED = frozenset({
    "zip", "zip3", "zip4", "zip5", "zipcode", "postcode", "postalcode", "postal", "plz",
    "postleitzahl", "icd", "icd9", "icd10", "icd11", "nuts", "nuts1", "nuts2", "nuts3", "lau",
    "fips", "geoid", "areacode", "naics", "sic", "isco", "isic", "nace", "atc", "ndc", "cpt",
    "hcpcs", "drg", "snomed", "loinc", "ops", "cbsa", "msa", "puma", "insee"
})
"""Words of names that stand for a system of codes."""
NOMINAL_WORDS = frozenset({"code", "codes", "cd", "kode", "codigo"})
"""Words that say code, and of what kind they don't."""
NAMED = frozenset({
    "county", "countyfp", "statefp", "tract", "municipality", "district", "province", "region",
    "commune", "gemeinde", "kreis", "canton", "occupation", "diagnosis", "procedure"
})
"""What has a name, so that a number which ends with its name stands for it."""
REFERENCE = frozenset({"id"})
"""The last word of a name that refers to something; it is a category where its values repeat."""
MEASURED = frozenset({
    "year", "years", "month", "months", "week", "day", "days", "hour", "hours", "minute",
    "minutes", "second", "seconds", "age", "ages", "count", "counts", "number", "num", "amount",
    "price", "income", "salary", "wage", "wages", "pay", "cost", "costs", "fee", "tax", "sum",
    "total", "mean", "avg", "average", "percent", "pct", "share", "ratio", "rate", "score",
    "rank", "ranking", "weight", "height", "length", "width", "area", "distance", "size",
    "quantity", "qty", "population", "balance", "revenue", "sales", "temperature", "pressure",
    "lat", "latitude", "lon", "lng", "longitude", "version"
})
"""Words of names that measure or count, as the last or the first of a name."""
FIRST_ONLY = frozenset({"n", "no", "of", "has", "is"})

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
TEXT = re.compile(r"VARCHAR|JSON|ENUM\(.*\)", re.DOTALL)


@dataclass(frozen=True)
class WrittenForm:
    """How the values of a column are written; NULL is none of them. See ``written`` in
    sql/roles.sql.

    Attributes:
        shortest, longest: the number of characters; None without values.
        digits: all are digits alone.
        codes: all as codes of digits and capitals, such as 47906 or E11.9.
        capitals: all as words of capitals and digits, such as DEA2, and one has a digit.
        zeros: one begins with 0, and has more digits.
        dates: all as 2024-05-17, with a time or without.
        decimals: all as plain numbers, such as 250.5.
        whole: all as whole numbers, such as 250 or 250.0.
        tens: all end in 0, as rounded amounts do.
        places: all as two numbers, such as -10.9 -37.0.
        fixed_head: whether what stands before a point has the same length in all.
    """

    shortest: int | None = None
    longest: int | None = None
    digits: bool = False
    codes: bool = False
    capitals: bool = False
    zeros: bool = False
    dates: bool = False
    decimals: bool = False
    whole: bool = False
    tens: bool = False
    places: bool = False
    fixed_head: bool = False

    @property
    def fixed(self) -> bool:
        """Whether all have the same length."""
        return self.shortest is not None and self.shortest == self.longest


@dataclass(frozen=True)
class CodeFacts:
    """What is known of a column.

    Attributes:
        name, sql_type: of the column.
        values, distinct: how many values that are not NULL it has, and how many different ones.
        low, high: the least and the largest of its numbers, where they are whole.
        written: how its values are written.
    """

    name: str
    sql_type: str
    values: int
    distinct: int
    low: int | None = None
    high: int | None = None
    written: WrittenForm = WrittenForm()


@dataclass(frozen=True)
class Suggestion:
    """A hierarchy for a column.

    Attributes:
        kind: one of KINDS.
        reason: why the column needs one, as a sentence; None where it only fits.
        options: of the kind.
    """

    kind: str
    reason: str | None = None
    options: tuple[tuple[str, int], ...] = ()

    @property
    def spec(self) -> str | dict[str, Any]:
        """As the option hierarchies has it."""
        return {"kind": self.kind, **dict(self.options)} if self.options else self.kind

    @property
    def text(self) -> str:
        """The same as one text, as a relation of roles has it."""
        return json.dumps(self.spec) if self.options else self.kind


def code_notice(name: str, suggestion: Suggestion) -> str:
    """What is said of a column of codes that is treated as a number."""
    return (
        f"The quasi-identifier {name!r} is treated as a number, so a class may release a mean or a "
        f"range of codes. {suggestion.reason} Say hierarchies={SUGGESTED!r}, or give this column "
        f"{suggestion.spec!r}."
    )


def is_number(sql_type: str) -> bool:
    """Whether values of an SQL type are numbers."""
    return bool(INTEGER.fullmatch(sql_type)) or sql_type in ("FLOAT", "DOUBLE") or (
        sql_type.startswith("DECIMAL")
    )


def suggest(facts: CodeFacts) -> Suggestion | None:
    """The hierarchy that fits a column: by its type, by how its values are written, and by its
    name. None where there is nothing to join, or where no kind takes the type."""
    sql_type = facts.sql_type
    if facts.distinct < 2:
        return None
    if sql_type.startswith(DATED):
        return Suggestion("date", "Dates generalize to months, years and decades.")
    if is_number(sql_type):
        return _of_numbers(facts) or Suggestion("bins")
    if TEXT.fullmatch(sql_type):
        return _of_texts(facts)
    if sql_type in ("BOOLEAN", "UUID"):
        return Suggestion("flat" if facts.distinct <= FEW_VALUES else "cover")
    return None


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: postalCode5 is postal, code and 5."""
    return tuple(word.lower() for word in WORD.findall(name))


def tells_rows_apart(facts: CodeFacts) -> bool:
    """Whether nearly all rows have a value of their own, so that it is a name of them, and groups
    of the values say nothing."""
    if facts.values < LEAST_ROWS:
        return False
    if TEXT.fullmatch(facts.sql_type):
        return facts.distinct >= NEARLY * facts.values
    if not INTEGER.fullmatch(facts.sql_type) or facts.low is None or facts.high is None:
        return False
    return facts.distinct == facts.values and 4 * (facts.high - facts.low) < 5 * facts.values


def _says_code(words: tuple[str, ...]) -> bool:
    """Whether the name of numbers says that they are codes, and of what kind it doesn't."""
    if _measures(words):
        return False
    thing = [word for word in words if not word.isdigit() and word not in ("nr", "no")]
    return bool(thing and thing[-1] in NAMED) or any(
        word in NOMINAL_WORDS or word.endswith("code") for word in words
    )


def _last_of(words: tuple[str, ...]) -> str:
    """The last word of a name that says that its numbers are codes."""
    return next((w for w in reversed(words) if _says_code((w,))), "code")


def _measures(words: tuple[str, ...]) -> bool:
    """Whether a name speaks of a measure or a count of something."""
    first, last = words[:1], words[-1:]
    return not MEASURED.isdisjoint((*first, *last)) or not FIRST_ONLY.isdisjoint(first)


def _system(name: str) -> str | None:
    """The word of a name that stands for a system of codes, as it is written there."""
    words = words_of(name)
    joined = {*words, *(a + b for a, b in pairwise(words))}
    found = sorted(joined & CODED)
    of_measure = _measures(tuple(w for w in words if not w.isdigit())) and words[:2] != (
        "area", "code"
    )
    return found[0] if found and not of_measure else None


def _of_numbers(facts: CodeFacts) -> Suggestion | None:
    """A code of numbers; None where they measure or count, as far as can be told."""
    low, high = facts.low, facts.high
    whole = bool(INTEGER.fullmatch(facts.sql_type)) or facts.written.whole
    if not whole or low is None or high is None or low < 0:
        return None
    width, fixed = len(str(high)), len(str(low)) == len(str(high))
    if width > LONGEST:
        return None
    if _is_day(low) and _is_day(high) and high > low:
        return Suggestion("prefix", "It holds dates as numbers, such as 20240517.")
    words, system = words_of(facts.name), _system(facts.name)
    named = system is not None or _says_code(words)
    if named:
        said = f"{system or _last_of(words)!r} is in the name"
        if width <= 2 or (system is None and facts.distinct <= FEW_VALUES):
            return Suggestion("flat", f"It holds {facts.distinct} different codes: {said}.")
        if fixed:
            return Suggestion("prefix", f"It holds codes of {width} digits: {said}.")
        return Suggestion(
            "bins", f"It holds codes without leading zeros: {said}.",
            (("width", 10), ("factor", 10), ("levels", width)),
        )
    if _measures(words) or facts.distinct * ROWS_A_VALUE > facts.values:
        return None
    sparse = high - low >= SPARSE * facts.distinct
    last = words[-1] if words else ""
    # CUSTOMERID is one word, and so is VALID
    if (last in REFERENCE and len(words) > 1) or (
        last.endswith("id") and len(last) > 5 and sparse
    ):
        return Suggestion(
            "flat", "It refers to something: 'id' ends its name, and its numbers repeat."
        )
    some = facts.distinct > 2 and not facts.written.tens
    if some and fixed and 4 <= width <= 9 and sparse:
        return Suggestion(
            "prefix", f"It holds few different numbers, all of {width} digits, as codes do."
        )
    return None


def _is_day(number: int) -> bool:
    """Whether a number of eight digits reads as a day from 1900 to 2099, such as 20240517."""
    month, day = number // 100 % 100, number % 100
    return 1900 <= number // 10000 < 2100 and 1 <= month <= 12 and 1 <= day <= 31


def _of_texts(facts: CodeFacts) -> Suggestion:
    """What fits texts."""
    written, system = facts.written, _system(facts.name)
    words = words_of(facts.name)
    short = written.longest is not None and written.longest <= LONGEST
    if written.dates:
        return Suggestion("date", "It holds dates that are written as text.")
    if system is not None and short and (written.codes or written.capitals or written.digits):
        return Suggestion("prefix", f"It holds codes: {system!r} is in the name.")
    if written.places and facts.distinct > FEW_VALUES:
        return Suggestion("rectangles")
    measured = _measures(words)
    a_code = written.zeros or (written.fixed and not measured) or not written.decimals
    if written.decimals and not a_code and not written.fixed_head:
        return Suggestion("bins", "It holds numbers that are written as text.")
    if written.decimals and measured:
        return Suggestion("bins", "It holds numbers that are written as text.")
    if facts.distinct <= FEW_VALUES:
        return Suggestion("flat")
    if written.codes:
        reason = "Its values are written as codes, with digits and capitals."
        return Suggestion("prefix", reason if short else None)
    return Suggestion("cover")


def facts_of(struct: Mapping[str, Any]) -> CodeFacts:
    """From the struct of SQL, as JSON."""
    low, high = (None if struct[end] is None else int(struct[end]) for end in ("low", "high"))
    return CodeFacts(
        struct["name"], struct["type"] or "", struct["values"] or 0, struct["distinct"], low, high,
        WrittenForm(**struct["written"]),
    )
