"""Lives of random tables, released beside a ledger: what an attacker who links all releases can
tell of a person is counted anew from the ledger, by nothing of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb

from kanon_sql.stages.remembered import forget
from tests.fuzz.case import Case, Column, call, create, quoted
from tests.fuzz.columns import names
from tests.fuzz.door import Refused, open_connection, refused
from tests.fuzz.draw import quasi_columns, sensitive_column
from tests.fuzz.options import DRAWERS, FORMS, METHODS, Roles
from tests.fuzz.oracle import refusal_fault, seen_as
from tests.ledger.lives import lives
from tests.ledger.reference import CROWDS, Exposure, histories, shown_against_presence

PERSON = "Zqx person"
"""The column of persons, and the beginning of its texts."""
KEYS = {
    "INTEGER": "{}", "BIGINT": "9000000{}", "VARCHAR": f"{PERSON} {{}}",
    "UUID": "00000000-0000-0000-0000-{:012}",
}
"""By the type of the column, how a person is named."""
CENTERED = ("r_gather", "r_cellular")
SOME = ("nulls", "categorical", "column_weights", "effort", "refine_steps", "distance", "l", "t")


@dataclass
class Life:
    """A table at all its moments, and how it is released.

    Attributes:
        columns: of all persons who ever are there, one row each.
        there: who is there at each release.
        moved: at each release the persons who have the quasi-identifiers of another.
        options: of each call.
        quasi, passing: the columns by their roles.
    """

    columns: dict[str, Column]
    there: list[list[int]]
    moved: list[dict[int, int]]
    options: dict[str, Any]
    quasi: tuple[str, ...]
    passing: tuple[str, ...]
    order: Random
    con: Any = field(default_factory=open_connection)

    def at(self, number: int) -> Case:
        """The table of a release, its rows in a random order."""
        rows = list(self.there[number - 1])
        self.order.shuffle(rows)
        moved = self.moved[number - 1]
        columns = tuple(
            each.take([moved.get(p, p) for p in rows] if name in self.quasi else rows)
            for name, each in self.columns.items()
        )
        options = {**self.options, **({"ledger": "releases"} if number > 1 else {})}
        return Case(columns, options)


def life_of(seed: int) -> Life:
    """The life of a seed."""
    random = Random(seed)
    persons = random.choice((24, 40, 40, 70, 110))
    there = list(lives(seed, persons, random.randint(2, 5), random.random() < 0.4, random.random()))
    width, passing = random.choice((1, 2, 2, 3)), random.choice((0, 1, 1))
    called = [name for name in names(random, width + passing) if name != PERSON]
    quasi = quasi_columns(random, called[:width], persons)
    sensitive = [sensitive_column(random, name, persons) for name in called[width:]]
    kind = random.choice(tuple(KEYS))
    keys = tuple(KEYS[kind].format(2**30 + person) for person in range(persons))
    listed = [*quasi, *sensitive, Column(PERSON, kind, keys)]
    random.shuffle(listed)
    roles = Roles(
        tuple(c.name for c in quasi), tuple(c.name for c in sensitive),
        {c.name: c.type for c in listed}, {c.name: c.values for c in listed}, persons,
    )
    options: dict[str, Any] = {
        "quasi_identifiers": list(roles.quasi), "entity": PERSON, "k": random.choice((2, 2, 3, 4)),
        "method": random.choice([each for each in METHODS if each not in CENTERED]),
        "attacker": DRAWERS["attacker"](random, roles), "seed": random.choice((1, 2**63 - 1)),
        "headroom": DRAWERS["headroom"](random, roles),
        "representation": random.choice(FORMS) if random.random() < 0.7 else
        DRAWERS["representation"](random, roles),
    }
    if sensitive:
        options["sensitive"] = list(roles.sensitive)
    for name in random.sample(SOME, random.choice((0, 1, 2))):
        if sensitive or name not in ("l", "t"):
            options[name] = DRAWERS[name](random, roles)
    moving = random.random() < 0.4
    moved = [{
        p: random.randrange(persons) for p in persons_there if random.random() < 0.1
    } if moving and number else {} for number, persons_there in enumerate(there)]
    return Life(
        {c.name: c for c in listed}, there, moved, options, roles.quasi, roles.sensitive, random
    )


def faults_of(seed: int) -> Iterator[str]:
    """What is wrong with the releases of a seed."""
    life = life_of(seed)
    con = life.con
    before: list[Exposure] = []
    forget()
    for number in range(1, len(life.there) + 1):
        case = life.at(number)
        try:
            create(con, "now", case.columns)
        except duckdb.Error:
            return
        entered = _entered(con, case, number)
        if isinstance(entered, Refused):
            fault = refusal_fault(case, entered.kind, entered.said, entered.ours)
            if fault:
                yield f"release {number}: {fault}"
            return
        yield from (f"release {number}: {each}" for each in _faults(life, case, number, before))
        before = _ledger(con)


def _entered(con: Any, case: Case, number: int) -> Refused | None:
    """Makes a release and enters it."""
    try:
        shown = call("anonymize", "now", case.options)
        con.execute(f"CREATE OR REPLACE TABLE shown AS FROM {shown}")
    except Exception as error:
        return refused(error)
    make = "CREATE OR REPLACE TABLE releases AS" if number == 1 else "INSERT INTO releases"
    con.execute("BEGIN")
    try:
        con.execute(f"{make} FROM {call('anonymize_ledger', 'now', case.options)}")
    except Exception as error:
        con.execute("ROLLBACK")
        found = refused(error)
        return Refused(found.kind, f"came out, and its entries are refused: {found.said}", False)
    con.execute("COMMIT")
    return None


def _ledger(con: Any) -> list[Exposure]:
    rows = con.execute("SELECT release, entity::VARCHAR, class FROM releases").fetchall()
    return [(release, person, number) for release, person, number in rows]


def _rows(con: Any, query: str) -> Counter[Any]:
    return Counter(con.execute(query).fetchall())


def _faults(
    life: Life, case: Case, number: int, before: list[Exposure]
) -> Iterator[str]:
    con, k, ledger = life.con, life.options["k"], _ledger(life.con)
    against = life.options["attacker"].removeprefix("knows_")
    keys = life.columns[PERSON].values
    there = {keys[p] for p in life.there[number - 1]}
    now = {person: place for release, person, place in ledger if release == number}
    least = min(CROWDS[against](ledger).values(), default=k)
    if least < k:
        yield f"a person has an anonymity set of {least}"
    if not set(now) <= there:
        yield "the ledger has persons who are not there"
    if any(n < k for n in Counter(now.values()).values()):
        yield "a class of this release is too small"
    found = con.execute("FROM ledger_check('releases', k := ?)", [k])
    told = dict(zip([each[0] for each in found.description], found.fetchone(), strict=True))
    if told[f"{against}_anonymity_set_min"] != least or not told[f"keeps_{against}"]:
        yield f"ledger_check says {told}, and the least anonymity set is {least}"
    yield from _published(life, number, now)
    moved = [moved for moved in life.moved[:number] if moved]
    modelled = {"l", "t"} & set(life.options)
    incomplete = life.options.get("nulls") in ("suppress", "error")
    if against == "presence" and before and not moved and not modelled and not incomplete:
        known = histories(before)
        again = {person: place for person, place in now.items() if person in known}
        if again != shown_against_presence(before, there, k):
            yield f"{len(again)} persons are shown again, which is not the most or not their class"
    if isinstance(life.options.get("l"), int):
        yield from _diverse(life, ledger, now, against)
    if number == 1 + life.options["k"] % 2:
        yield from _again(life, case)


def _published(life: Life, number: int, now: dict[Any, Any]) -> Iterator[str]:
    """What came out is what the ledger says; a class publishes the same in all releases."""
    con = life.con
    parts = [seen_as(name, "published.") for name in life.quasi]
    parts += [seen_as(name, "now.") for name in life.passing]
    entered = _rows(con, f"""
        SELECT {', '.join(parts)} FROM releases JOIN now ON entity = now.{quoted(PERSON)}
        WHERE release = {number}
    """)
    names = ", ".join(seen_as(name) for name in (*life.quasi, *life.passing))
    shown = _rows(con, f"SELECT {names} FROM shown")
    if shown != entered or shown.total() != len(now):
        yield f"{(shown - entered).total()} of {shown.total()} rows are not what the ledger says"
    if PERSON in [each[0] for each in con.execute("FROM shown LIMIT 0").description]:
        yield "the persons came out"
    ((classes, published),) = con.execute(
        "SELECT count(DISTINCT class), count(DISTINCT (class, published::VARCHAR)) FROM releases"
    ).fetchall()
    if classes != published:
        yield f"{classes} classes published {published} combinations"


def _diverse(
    life: Life, ledger: list[Exposure], now: dict[Any, Any], against: str
) -> Iterator[str]:
    """Of l-diversity by distinct values: every anonymity set keeps it."""
    known = histories(ledger)
    for name in life.passing:
        values = dict(life.con.execute(
            f"SELECT {quoted(PERSON)}::VARCHAR, {seen_as(name)} FROM now"
        ).fetchall())
        for mine in {known[person] for person in now}:
            crowd = [p for p in now if (
                mine <= known[p] if against == "presence" else mine == known[p]
            )]
            some = {values[p] for p in crowd} - {"NULL"}
            if len(some) < life.options["l"]:
                yield f"an anonymity set of {len(crowd)} has {len(some)} values of {name!r}"
                return


def _again(life: Life, case: Case) -> Iterator[str]:
    """The same release of rows in another order, on another number of threads."""
    con = life.con
    newest = "(SELECT max(release) FROM releases)"
    con.execute(f"CREATE OR REPLACE TABLE kept AS FROM releases WHERE release = {newest}")
    con.execute("CREATE OR REPLACE TABLE whole AS FROM releases")
    con.execute(f"DELETE FROM releases WHERE release = {newest}")
    con.execute(f"CREATE OR REPLACE TABLE now AS FROM now ORDER BY hash({quoted(PERSON)})")
    con.execute(f"SET threads = {1 + len(life.columns) % 4}")
    forget()
    try:
        con.execute("CREATE OR REPLACE TABLE once_more AS "
                    f"FROM {call('anonymize_ledger', 'now', case.options)}")
    except Exception as error:
        yield f"the second call is refused: {refused(error).said[:300]}"
        return
    finally:
        con.execute("RESET threads")
        con.execute("INSERT INTO releases FROM kept")
    listed = "SELECT entity::VARCHAR, class, published::VARCHAR FROM "
    if _rows(con, f"{listed} once_more") != _rows(con, f"{listed} kept"):
        yield "rows in another order have other entries"
