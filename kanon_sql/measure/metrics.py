"""The metrics of a release: name, SQL expression over the facts of the run, unit, meaning.

Expressions are composed in one way: a text with holes, ``${name}``, which ``filled`` fills. What
only the call knows stays a hole until ``Metric.of_call``. A fact that nothing reports is refused
when this module is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template
from typing import Any, Literal, get_args

from kanon_sql.points.points import Fact
from kanon_sql.privacy import CONSTRAINTS

MeasuredFact = Literal[
    "rows", "weights", "sse", "sse_released", "sst", "information_loss", "max_radius",
    "cellular_cost", "cost", "total_il", "total_distinct", "intra_cluster_distance",
    "entropy_loss", "attributes",
    "released_il", "released_distinct", "released_entropy", "cells_generalized",
    "loss_bound", "loss_bound_exact",
]
"""What measure/facts.py measures of a grouping, and measure/released.py of what it releases."""

AuditedFact = Literal[
    "total_il", "ncp", "ncp_at_least", "ncp_at_most", "entropy_loss", "unread", "points",
    "attributes",
]
"""What stages/audit.py reads from any release."""


Public = Literal["no", "whole", "yes"]
"""Whether who gets the release may be told a metric: never, where no row was left out, always."""


@dataclass(frozen=True)
class Metric:
    """One row of anonymize_metrics().

    Attributes:
        name: the metric.
        expression: SQL over the columns of ``_facts`` in sql/measure.sql; a number, or a
            text where ``is_text``. Its holes are what only the call knows.
        unit: its unit; ${distance} is that of distances, ${objective} that of the method's cost.
        description: what it means, and which direction is better.
        is_text: whether the value is a text, shown in the column ``text``.
        beside: SQL of a text that stands beside a number, if there is one.
        words: SQL of what the value means for a reader, where words are honest.
        public: whether who gets the release may be told it. A manifest tells no other: who adds a
            metric says 'yes' where it is counted on what comes out, or is a sum over all rows; not
            where it says of one row or person where it lies, or that it is there. 'whole' is what
            is held against the range of a column, which would tell how far away a row lies that
            was left out.
    """

    name: str
    expression: str
    unit: str
    description: str
    is_text: bool = False
    beside: str = "NULL"
    words: str = "NULL"
    public: Public = "no"

    @property
    def by_source(self) -> bool:
        """Whether it is measured on the rows of the source, and not only on what comes out."""
        return bool(re.search(r"\b(grouped|measured)\b", self.expression))

    def of_call(self, values: Mapping[str, str]) -> Metric:
        """The metric with no hole left: ``values`` are SQL, and units, by the names of holes.

        Raises KeyError for a hole without a value.
        """
        return replace(
            self,
            expression=Template(self.expression).substitute(values),
            beside=Template(self.beside).substitute(values),
            words=Template(self.words).substitute(values),
            unit=Template(self.unit).substitute(values),
        )


def filled(expression: str, **parts: str) -> str:
    """An expression with these holes filled; the others stay."""
    return Template(expression).safe_substitute(parts)


def _fact(reported: str, name: str, known: Any) -> str:
    """A fact as text: out of the column of _facts that holds the JSON of those reported."""
    if name not in get_args(known):
        raise LookupError(f"No run reports the fact {name!r} in {reported}.")
    return filled("${reported} ->> '${name}'", reported=reported, name=name)


def _number(fact: str) -> str:
    return filled("(${fact})::DOUBLE", fact=fact)


def _grouped_text(name: Fact) -> str:
    return _fact("grouped", name, Fact)


def _grouped(name: Fact) -> str:
    return _number(_grouped_text(name))


def _measured(name: MeasuredFact) -> str:
    return _number(_fact("measured", name, MeasuredFact))


def audited(name: AuditedFact) -> str:
    """SQL of a fact that an audit reports."""
    return _number(_fact("measured", name, AuditedFact))


def _total(loss: MeasuredFact) -> str:
    """A loss of the rows that took part, and every cell of those that nulls 'suppress' left out."""
    return filled(
        "(${lost} + (rows_in - ${rows}) * ${weights})",
        lost=_measured(loss), rows=_measured("rows"), weights=_measured("weights"),
    )


def _share(total: str) -> str:
    """A loss of all cells, per cell."""
    return filled(
        "CASE WHEN rows_in * ${weights} > 0 THEN ${total} / (rows_in * ${weights}) "
        "WHEN ${total} IS NOT NULL THEN 0 END",
        total=total, weights=_measured("weights"),
    )


COST = filled(
    "(${cost} + coalesce(${facility}, 0))",
    cost=_measured("cost"), facility=_grouped("facility"),
)
"""What the guarantee is about, where it isn't the sizes of the released classes."""

AS_GROUPED = filled("${cost} = ${grouping}", grouping=_measured("cost"))
"""Whether the released classes cost what the method's classes do; ${cost} is theirs."""

AS_CHOSEN = filled(
    "${measured} <= ${chosen} * ${widening} * (1 + 1e-9)",
    measured=_measured("cost"), chosen=_grouped("chosen_cost"),
)
"""Whether the published centers cost no more than is proven of them, ${widening} times what those
cost that the method chose."""

BOUND = filled(
    "CASE WHEN ${bound} BETWEEN ${cost} AND ${cost} * (1 + 1e-9) THEN ${cost} ELSE ${bound} END",
    bound=_grouped("lower_bound"),
)
"""What no grouping costs less than: no more than this one, where only rounding says so."""

WORDS_OF_K = "format('{:,} rows or more share each combination of values', smallest)"

WORDS_OF_BOUND = filled(
    "CASE WHEN ${bound} > 0 AND ${loss} <= ${bound} * (1 + 1e-9) "
    "THEN 'the loss is the minimum with this k' "
    "WHEN ${bound} > 0 AND ${exact} = 1 "
    "THEN format('the loss is {:.2f} times the minimum with this k', ${loss} / ${bound}) "
    "WHEN ${bound} > 0 "
    "THEN format('the loss is at most {:.2f} times the minimum with this k', "
    "floor(100 * ${loss} / ${bound}) / 100 + 0.01) END",
    bound=_measured("loss_bound"), loss=_measured("information_loss"),
    exact=_measured("loss_bound_exact"),
)

METRICS = (
    Metric("rows", "rows_in", "rows", "rows of the relation", public="yes"),
    Metric("rows_released", "rows_released", "rows", "released rows", public="yes",
           words="CASE WHEN rows_suppressed = 0 THEN 'every row is released' "
                 "ELSE format('{:,} of {:,} rows are released', rows_released, rows_in) END"),
    Metric("rows_suppressed", "rows_suppressed", "rows",
           "rows left out; rows = rows_released + rows_suppressed", public="yes"),
    Metric("classes", "classes", "classes", "distinct combinations of released values",
           public="yes"),
    Metric("class_size_mean", "rows_released::DOUBLE / nullif(classes, 0)", "rows",
           "mean number of rows per class", public="yes"),
    Metric("class_size_max", "largest", "rows", "rows of the largest class", public="yes"),
    *(Metric(*measure, public="yes", words=WORDS_OF_K if measure.name == "k" else "NULL")
      for kind in CONSTRAINTS.values() for measure in kind.measures),
    Metric("information_loss", _measured("information_loss"), "percent",
           "share of the variance that lies within classes, 100 * sse / sst, of the released rows "
           "(thaeter2021, definition 1.5); lower is better",
           public="yes",
           words=f"format('{{:.2g}} % of the variance lies within classes, where it is lost', "
                 f"{_measured('information_loss')})"),
    Metric("information_loss_bound", _measured("loss_bound"), "percent",
           "an information_loss that no grouping of the rows into classes of k or more can be "
           "below, from the k - 1 nearest of each row; for one numeric column without NULLs, the "
           "optimum. NULL without detail, with an entity, a ledger, rows that the grouping "
           "left out, or within without by_part, and where rows * (k - 1) exceeds 20 million",
           words=WORDS_OF_BOUND),
    Metric("cells_generalized", _measured("cells_generalized"), "share",
           "released quasi-identifier cells that do not show exactly their row's own value; lower "
           "is better",
           words=f"format('{{:.0f}} of 100 quasi-identifier cells are generalized', "
                 f"100 * {_measured('cells_generalized')})"),
    Metric("sse", _measured("sse"), "squared standard deviations",
           "sum of the squared distances of rows to the mean of their class; lower is better",
           public="yes"),
    Metric("sse_released", _measured("sse_released"), "squared standard deviations",
           "sum of the squared distances of rows to the released point, 1 for a cell whose class "
           "mixes NULL and values; NULL if the representation is not a point; lower is better",
           public="yes"),
    Metric("sst", _measured("sst"), "squared standard deviations",
           "sse if all released rows were one class", public="yes"),
    Metric("max_radius", _measured("max_radius"), "${distance}",
           "largest distance of a row to the center of its class (aggarwal2006, definition 2.1); "
           "lower is better"),
    Metric("cellular_cost", _measured("cellular_cost"), "${distance}",
           "sum over the classes of size times radius (aggarwal2006, section 1); lower is better"),
    Metric("cost", "${cost}", "${objective}",
           "the cost that the guarantee of the method bounds: max_radius (r_gather), "
           "cellular_cost (r_cellular; for cellular plus facility costs), generalized cells, each "
           "by its share of the levels (forest, pairs, triples), or class_size_max (methods for "
           "one attribute; quadratic_penalty with objective 'quadratic'). Lower is better"),
    Metric("lower_bound", BOUND, "${objective}",
           "a cost that no grouping can be below, computed in this run; published centers may be "
           "any points, or any rows with centers 'rows'"),
    Metric("ratio", filled("CASE WHEN ${cost} = 0 THEN 1 ELSE ${cost} / nullif(${bound}, 0) END",
                           bound=BOUND), "ratio",
           "cost / lower_bound: an upper bound of cost / optimum; 1 is best"),
    Metric("guaranteed_ratio", filled("CASE WHEN ${as_grouped} THEN ${proven} END",
                                      proven=_grouped("guaranteed_ratio")), "ratio",
           "the proven upper bound of cost / optimum; NULL if an option or blocks void the proof, "
           "if classes of one attribute release the same values, or if published centers cost more "
           "than the proof allows", public="yes"),
    Metric("centers_equal_to_a_row", "centers_equal_to_a_row", "centers",
           "published centers that equal a row of the relation in all quasi-identifiers; NULL if "
           "no centers are published; lower is better"),
    Metric("total_il", _measured("released_il"), "cells",
           "Total-IL of the released values, summed over all cells; see byun2006, definitions 7 "
           "and 8 (lower is better). Numbers lose range / domain. Categories lose height of the "
           "label / height of the hierarchy, or without a hierarchy 1 for several values. The loss "
           "is 1 for a range or set that hides a NULL, for a cell without a released value, and "
           "for each cell of a suppressed row. NULL if a column is released as points, which have "
           "no range",
           public="whole"),
    Metric("ncp", _share(_measured("released_il")), "share",
           "total_il per cell: 0 means no loss, 1 complete loss; lower is better",
           public="whole"),
    Metric("ncp_distinct", _share(_measured("released_distinct")), "share",
           "as ncp, but a category loses (values - 1) / (values of the column - 1), where the "
           "values are those of the set, or with a hierarchy the mean number below a node at the "
           "level of the label; lower is better", public="whole"),
    Metric("entropy_loss", _measured("released_entropy"), "bits per cell",
           "mean entropy of the values that a released cell may stand for, by their frequencies in "
           "the relation (entropy measure, Gionis and Tassa 2009); NULL if total_il is NULL; lower "
           "is better", public="yes"),
    Metric("total_il_grouping", _total("total_il"), "cells",
           "Total-IL of the grouping, as if each class released the range of its numbers and the "
           "lowest common ancestor of its categories; a suppressed row loses every "
           "quasi-identifier; lower is better", public="whole"),
    Metric("ncp_grouping", _share(_total("total_il")), "share",
           "total_il_grouping per cell; lower is better", public="whole"),
    Metric("ncp_distinct_grouping", _share(_total("total_distinct")), "share",
           "as ncp_grouping, but a category loses by its number of values, as in ncp_distinct; "
           "lower is better", public="whole"),
    Metric("entropy_loss_grouping", _measured("entropy_loss"), "bits per cell",
           "mean bits needed to know a released row's value among those of its class, or of the "
           "range or node that they span, by their frequencies in the relation (non-uniform "
           "entropy, Gionis and Tassa 2009); lower is better", public="yes"),
    Metric("intra_cluster_distance", _measured("intra_cluster_distance"), "cells",
           "sum over the classes of rows times the largest distance of two rows (byun2006, "
           "definition 3); NULL if classes are too large to compare all pairs; lower is better"),
    Metric("discernibility", "coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed",
           "rows squared",
           "sum of squared class sizes, plus rows for each suppressed row; lower is better",
           public="yes"),
    Metric("c_avg", "rows_released::DOUBLE / nullif(classes, 0) / ${k}", "ratio",
           "mean number of rows per class / k (LeFevre et al. 2006); 1 is best", public="yes"),
    Metric("overfull_ratio", "largest::DOUBLE / ${k}", "ratio",
           "rows of the largest class / k (du2009, section 5); 1 is best", public="yes"),
    Metric("quadratic_penalty", "coalesce(squares, 0) - ${k} * rows_released::DOUBLE",
           "rows squared",
           "sum over the classes of size times (size - k) (du2009, section 1); lower is better",
           public="yes"),
    Metric("classification_metric",
           "(strangers + rows_in - rows_released)::DOUBLE / nullif(rows_in, 0)", "share",
           "rows that are suppressed or whose class_label differs from the majority label of their "
           "class (Iyengar 2002); NULL without class_label; lower is better", public="yes"),
    Metric("unchanged_columns", "unchanged_columns", "columns",
           "columns that are released unchanged, including the sensitive ones", public="yes"),
    Metric("unique_in_unchanged", "unique_in_unchanged", "rows",
           "released rows that no other row equals in all unchanged columns: an attacker who knows "
           "these values of a person finds the row; lower is better", public="yes",
           words="CASE WHEN unique_in_unchanged = 0 THEN 'no row is unique in them' "
                 "ELSE format('{:,} rows are unique in them', unique_in_unchanged) END"),
    Metric("prosecutor_risk_max", "1.0::DOUBLE / smallest", "probability",
           "largest chance that a prosecutor finds a person's row: 1 / k; lower is better",
           public="yes", words="format('at most 1 chance in {:,}', smallest)"),
    Metric("prosecutor_risk_mean", "classes::DOUBLE / nullif(rows_released, 0)", "probability",
           "mean chance over the rows that a prosecutor finds a person's row; lower is better",
           public="yes",
           words="format('1 chance in {:.3g} on average', rows_released::DOUBLE / classes)"),
    Metric("seconds_total",
           filled("verified - started + ${before}", before=_grouped("seconds_remembered")),
           "seconds",
           "time from the start of the query to the end of the verification, plus seconds_group "
           "if grouping_cache is 'hit'"),
    Metric("seconds_read", filled("${begun} - started", begun=_grouped("started")), "seconds",
           "reading and collecting the rows"),
    Metric("seconds_encode", _grouped("seconds_encode"), "seconds",
           "standardizing, coding and ordering the rows"),
    Metric("seconds_group", _grouped("seconds_group"), "seconds",
           "the method itself; if grouping_cache is 'hit', in the call that made the groups"),
    Metric("seconds_generalize",
           filled("generalized - ${finished}", finished=_grouped("finished")), "seconds",
           "aggregating the released values of each class, and building the released rows"),
    Metric("seconds_verify", "greatest(verified - generalized, 0)", "seconds",
           "counting the classes of the released rows"),
    Metric("method", "${method}", "", "the method that grouped the rows", True),
    Metric("gamma", _grouped("gamma"), "",
           "the gamma that v_mdav used, given or best; NULL if blocks chose different ones",
           public="yes"),
    Metric("blocks", _grouped("blocks"), "blocks",
           "blocks that were grouped separately; 1 if all rows were grouped as one",
           public="yes"),
    Metric("spanning_degree", _grouped("spanning_degree"), "neighbours",
           "largest degree d of the spanning tree of zip_regions, on which its guarantee depends",
           public="yes"),
    Metric("islands", _grouped("islands"), "components",
           "components of the graph with fewer than k rows (zip_regions)"),
    Metric("rows_without_place", _grouped("rows_without_place"), "rows",
           "rows without a latitude or a longitude; they form a class (gps_rectangles)"),
    Metric("island_rows", _grouped("island_rows"), "rows",
           "rows whose code is in such a component"),
    Metric("codes_unknown", _grouped("codes_unknown"), "codes",
           "codes of the data that are not in the graph; each is a component of its own"),
    Metric("refine_steps", _grouped("refine_steps"), "steps",
           "rows that the search of effort or of the method best visited; the same number as "
           "refine_steps gives the same release",
           public="yes"),
    Metric("refine_end",
           filled("CASE ${stopped} WHEN '0.0' THEN 'steps' WHEN '1.0' THEN 'seconds' END",
                  stopped=_grouped_text("refine_stopped")), "",
           "the limit that ended the search: 'steps' or 'seconds'", True),
    Metric("grouping_cache", _grouped_text("grouping_cache"), "",
           "'hit' if the grouping of an earlier call on the same content was reused (also of a "
           "query that is planned or run twice), else 'miss'", True),
    Metric("options", "${options}", "JSON", "all options as they were used", True),
    Metric("seed", "${seed}", "", "the seed", True),
    Metric("version", "${version}", "", "the versions of kanon_sql and DuckDB", True),
)

CHOSEN = _grouped_text("method")
"""SQL of the method where 'auto' chose it."""

DIVERSITY = (
    Metric("homogeneous_rows", "", "rows",
           "released rows whose class has only one value of the sensitive column (byun2006, "
           "definition 10); lower is better", public="yes"),
    Metric("homogeneous_sensitive_rows", "", "rows",
           "homogeneous_rows whose value is among sensitive_values; lower is better",
           public="yes"),
)
"""Measured once for each sensitive column."""

ATTRIBUTE = Metric(
    "ncp", "", "share",
    "total_il of this quasi-identifier alone, per row, without its weight; NULL if undefined; "
    "lower is better",
    public="whole",
)
"""Measured once for each quasi-identifier."""

NOTICE = Metric(
    "notice", "", "", "a fact about a column or the method to consider before the release", True,
)
"""One row for each."""

VERBATIM = Metric(
    "original_values", "", "classes",
    "classes that release a value of one of their rows, although their rows differ in this "
    "quasi-identifier; NULL if the representation is not a point; lower is better",
)
"""Measured once for each quasi-identifier, of a release as it is made."""

OF_GROUPING = Metric(
    "ncp_grouping", "", "share",
    "total_il_grouping of this quasi-identifier alone, per row, without its weight; lower is "
    "better",
    public="whole",
)
"""The same of anonymize_metrics alone."""
