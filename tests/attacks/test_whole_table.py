"""What naive releases of all 30,162 rows of Adult give away: the figures by which the attacks are
known to be worth running."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

from tests.attacks import homogeneity, minimality
from tests.attacks.frame import KNOWN, QUASI, Connection, K, classes_of, people, quoted
from tests.attacks.table import measured

pytestmark = pytest.mark.slow
ALL = 30_162


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with people(ALL) as connection:
        yield connection


@pytest.fixture(scope="module")
def secrets(con: Connection) -> pl.DataFrame:
    """A k-anonymous release with the occupation for a secret."""
    rows: pl.DataFrame = con.sql(
        f"FROM anonymize('adult', k := {K}, identifiers := ['salary-class'], "
        "sensitive := ['person', 'occupation'])"
    ).pl()
    return rows


@pytest.fixture(scope="module")
def ages(con: Connection) -> pl.DataFrame:
    """Per class the mean of the ages that is released, and the ages."""
    rows: pl.DataFrame = con.sql(
        f"FROM anonymize('adult', k := {K}, sensitive := ['person', 'salary-class'], "
        "representation := 'centroid')"
    ).pl()
    true = con.sql("SELECT person, age AS true FROM adult").pl()
    classes = rows.with_columns(classes_of(rows, QUASI)).join(true, on="person").group_by("class")
    return classes.agg("true", pl.col("age").first())


def test_without_names_a_third_is_alone(con: Connection) -> None:
    ((alone,),) = con.execute(
        f'SELECT count(*) FROM (SELECT count(*) AS n FROM adult GROUP BY {quoted(KNOWN)}, '
        '"salary-class" HAVING n = 1)'
    ).fetchall()
    assert alone == 8_841


def test_k_alone_says_the_occupation_of_hundreds(secrets: pl.DataFrame) -> None:
    assert homogeneity.attack(secrets, "occupation", 1 - 1e-9) * ALL > 500
    assert homogeneity.attack(secrets, "occupation", 0.5) > 0.19
    rows = pl.DataFrame({"class": classes_of(secrets, KNOWN), "value": secrets["occupation"]})
    by_class = rows.group_by("class", "value").len("n").group_by("class").agg(pl.col("n").max())
    everybody = rows.group_by("value").len("n")["n"].to_list()
    assert max(everybody) / ALL < 0.14 < 0.4 < by_class["n"].sum() / ALL


@pytest.mark.parametrize(("decimals", "known"), [(15, 1.0), (1, 1.0), (0, 0.4)])
def test_a_mean_gives_the_last_age_away(
    ages: pl.DataFrame, decimals: int, known: float
) -> None:
    """To one decimal as well; none at all leaves a third."""
    right = sum(
        round(round(mean, decimals) * len(own) - sum(own[1:])) == own[0]
        for own, mean in ages.select("true", "age").iter_rows()
    ) / ages.height
    assert right == 1 if known == 1 else 0.2 < right < known


def test_most_ages_are_an_end_of_an_interval(ages: pl.DataFrame) -> None:
    inside = [(min(own) < age < max(own)) for own in ages["true"] for age in own]
    assert 1 - sum(inside) / len(inside) > 0.6


def test_no_attack_does_better_than_its_bound_on_all_rows() -> None:
    for attack in measured(ALL):
        assert attack.ours <= attack.bound + 1e-9, attack
        assert attack.bound < attack.naive or not attack.promised, attack


@pytest.mark.parametrize("rows", [500, 2_000])
@pytest.mark.parametrize(("sensitive", "least"), [("occupation", 3), ("salary-class", 2)])
def test_the_bound_of_minimality_holds_of_other_tables_and_seeds(
    rows: int, sensitive: str, least: int
) -> None:
    """It is measured, so it has to be measured widely. After a search it was exceeded once, by a
    point: docs/promise.md says so."""
    with people(rows) as con:
        everybody = con.sql("FROM adult ORDER BY person").pl()
        points = minimality.points_of(everybody, [name for name in QUASI if name != sensitive])
        values = everybody[sensitive].rank("dense").to_numpy().astype("int64")
        con.register("imagined", everybody.with_columns(pl.lit("any").alias(sensitive)))
        plain = f"k := {K}, method := 'mdav_star'"
        groups = minimality.labels(con, "imagined", sensitive, plain)
        for seed in range(3):
            model = (f"k := {K}, l := {{'{sensitive}': {least}}}, seed := {seed}, "
                     "method := 'mdav_star'")
            told = groups, points, minimality.labels(con, "adult", sensitive, model), values, least
            assert minimality.attack(*told) <= minimality.bound(*told)
