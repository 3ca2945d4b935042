"""Visits: k rows are not k persons.

    python examples/visits.py            both tables, in a minute of processor time
    python examples/visits.py --quick    3,000 persons of Adult, and the second table

The first table is made: each person of Adult comes once or several times, as often as geometric
chance has it, up to three years later, and a year older each year. The second is real: the reports
of the utilities of EIA, most of them for several months.

Each is released three times with the same k: by rows, as if each were a person's only one; by
persons, whose rows may be in several classes (entity_rows='apart'); and by persons with all rows in
one class. Then somebody who knows whose row each is looks at what came out:

- persons: the least persons of a class
- one person: the share of the persons with rows in a class that has nobody else's, so that all that
  these say is theirs
- crowd < k, alone: the share of the persons with less than k, or no, others who are in all of the
  classes that the person is in, too: nobody but these could be the one who has all these rows

The exit status is 1 if a class of a release by persons has fewer than k, or if anybody whose rows
are together has less than k in the crowd.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

import kanon_sql
from kanon_sql.data import adult

EIA = Path(__file__).parents[1] / "tests" / "data" / "eia.parquet"
K = 5
AGAIN = 0.5
"""The chance to come once more."""

READINGS = {
    "rows": "identifiers=['who']",
    "persons, apart": "entity='who', entity_rows='apart'",
    "persons, together": "entity='who'",
}
"""Options of each of the three releases."""


@dataclass(frozen=True)
class Found:
    """What comes of a release.

    Attributes:
        loss: the information loss in percent.
        classes: how many there are.
        persons: the least persons of a class.
        one_person: the share of the persons with rows in a class of their own.
        small, alone: the share of those whose crowd is below k, or nobody else.
    """

    loss: float
    classes: int
    persons: int
    one_person: float
    small: float
    alone: float


def made_of_adult(con: duckdb.DuckDBPyConnection, persons: int) -> str:
    """The table ``visits``, made of that many persons of Adult; its quasi-identifiers."""
    dice = np.random.default_rng(2024)
    times = dice.geometric(1.0 - AGAIN, persons)
    who = np.repeat(np.arange(persons), times)
    later = dice.integers(0, 4, len(who))
    con.register("comings", {"who": who, "later": later})
    con.execute("CREATE OR REPLACE TABLE people AS SELECT row_number() OVER () - 1 AS who, * "
                "FROM read_parquet(?)", [adult()])
    con.execute(
        "CREATE OR REPLACE TABLE visits AS "
        "SELECT row_number() OVER () AS visit, who, age + later AS age, sex, race, "
        '"marital-status", education, "native-country", occupation '
        "FROM comings JOIN people USING (who)"
    )
    con.unregister("comings")
    return "'age', 'sex', 'race', 'marital-status', 'education', 'native-country'"


def reports_of_eia(con: duckdb.DuckDBPyConnection) -> str:
    """The table ``visits`` of the reports of EIA; its quasi-identifiers."""
    names = ("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES")
    con.execute(
        "CREATE OR REPLACE TABLE visits AS SELECT row_number() OVER () AS visit, "
        f"UTILITYID AS who, UTILNAME, STATE, {', '.join(names)} FROM read_parquet(?)", [str(EIA)]
    )
    return ", ".join(f"'{name}'" for name in names)


def measured(con: duckdb.DuckDBPyConnection, quasi: str, reading: str) -> Found:
    """Releases the table ``visits``, and looks at what came out with the eyes of one who knows
    whose row each is: by the number of the visit, which passes here and would nowhere else."""
    options = f"k={K}, quasi_identifiers=[{quasi}], {READINGS[reading]}, sensitive=['visit']"
    rows = con.execute(
        "SELECT who, class_id FROM (FROM anonymize('visits', "
        f"{options}, others='drop', class_id=true, progress=false)) JOIN visits USING (visit)"
    ).fetchall()
    ((loss,),) = con.execute(
        f"SELECT value FROM anonymize_metrics('visits', detail=true, {options}, others='drop', "
        f"progress=false) "
        "WHERE metric = 'information_loss'"
    ).fetchall()
    members: dict[int, set[int]] = defaultdict(set)
    places: dict[int, set[int]] = defaultdict(set)
    for who, number in rows:
        members[number].add(who)
        places[who].add(number)
    crowds = [
        len(set.intersection(*(members[number] for number in own))) for own in places.values()
    ]
    own_class = {who for whose in members.values() if len(whose) == 1 for who in whose}
    count = len(places)
    return Found(
        loss, len(members), min(map(len, members.values())), len(own_class) / count,
        sum(crowd < K for crowd in crowds) / count, sum(crowd == 1 for crowd in crowds) / count,
    )


def table(con: duckdb.DuckDBPyConnection, name: str, quasi: str) -> Iterator[tuple[str, Found]]:
    """Prints one table as it is computed."""
    ((count, persons, most),) = con.execute(
        "SELECT sum(n), count(*), max(n) FROM (SELECT count(*) AS n FROM visits GROUP BY who)"
    ).fetchall()
    show(
        f"{name}: {count:,} rows of {persons:,} persons, of one of them {most}; k = {K}", "",
        f"{'released by':20}{'loss %':>8}{'classes':>9}{'persons':>9}{'one person':>12}"
        f"{'crowd < k':>11}{'alone':>8}",
    )
    for reading in READINGS:
        found = measured(con, quasi, reading)
        show(
            f"{reading:20}{found.loss:8.2f}{found.classes:9,}{found.persons:9}"
            f"{found.one_person:12.1%}{found.small:11.1%}{found.alone:8.1%}"
        )
        yield reading, found
    show("")


def hidden_key(con: duckdb.DuckDBPyConnection, quasi: str) -> None:
    """What is said of a column that tells the utilities apart as their number does."""
    said = con.execute(
        f"SELECT text FROM anonymize_metrics('visits', detail=true, k={K}, "
        f"quasi_identifiers=[{quasi}], "
        "entity='who', others='release', progress=false) WHERE metric = 'notice'"
    ).fetchall()
    show("With others='release':", *(text for (text,) in said))


def show(*lines: str) -> None:
    """Prints result lines at once."""
    print(*lines, sep="\n", flush=True)


def main(given: Sequence[str] | None = None) -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="3,000 persons of Adult")
    persons = 3_000 if parser.parse_args(given).quick else 30_162
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    found = [*table(con, "Visits of persons of Adult", made_of_adult(con, persons))]
    quasi = reports_of_eia(con)
    found += table(con, "Reports of utilities (EIA)", quasi)
    hidden_key(con, quasi)
    kept = all(each.persons >= K for reading, each in found if reading != "rows")
    crowded = all(each.small == 0.0 for reading, each in found if reading == "persons, together")
    return 0 if kept and crowded else 1


if __name__ == "__main__":
    sys.exit(main())
