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


def _audited(name: AuditedFact) -> str:
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

METRICS = (
    Metric("rows", "rows_in", "rows", "rows of the relation", public="yes"),
    Metric("rows_released", "rows_released", "rows", "rows that came out", public="yes",
           words="CASE WHEN rows_suppressed = 0 THEN 'every row is released' "
                 "ELSE format('{:,} of {:,} rows are released', rows_released, rows_in) END"),
    Metric("rows_suppressed", "rows_suppressed", "rows",
           "rows left out; rows = rows_released + rows_suppressed", public="yes"),
    Metric("classes", "classes", "classes", "distinct combinations of released values",
           public="yes"),
    Metric("class_size_mean", "rows_released::DOUBLE / nullif(classes, 0)", "rows",
           "rows per class on average", public="yes"),
    Metric("class_size_max", "largest", "rows", "rows of the largest class", public="yes"),
    *(Metric(*measure, public="yes", words=WORDS_OF_K if measure.name == "k" else "NULL")
      for kind in CONSTRAINTS.values() for measure in kind.measures),
    Metric("information_loss", _measured("information_loss"), "percent",
           "100 * sse / sst (thaeter2021, definition 1.5), of the released rows; lower is better",
           public="yes",
           words=f"format('{{:.2g}} % of the variance lies within classes, where it is lost', "
                 f"{_measured('information_loss')})"),
    Metric("cells_generalized", _measured("cells_generalized"), "share",
           "released cells of quasi-identifiers that don't show their row's own value alone; lower "
           "is better",
           words=f"format('{{:.0f}} of 100 quasi-identifier cells are generalized', "
                 f"100 * {_measured('cells_generalized')})"),
    Metric("sse", _measured("sse"), "squared standard deviations",
           "squared errors of the grouping, to the mean of each class; lower is better",
           public="yes"),
    Metric("sse_released", _measured("sse_released"), "squared standard deviations",
           "squared errors to the released point, 1 for a cell whose class mixes NULL and values; "
           "NULL where the representation is no point; lower is better", public="yes"),
    Metric("sst", _measured("sst"), "squared standard deviations",
           "squared errors if all released rows were one class", public="yes"),
    Metric("max_radius", _measured("max_radius"), "${distance}",
           "largest distance of a row to the center of its class (aggarwal2006, definition 2.1); "
           "lower is better"),
    Metric("cellular_cost", _measured("cellular_cost"), "${distance}",
           "sum over the classes of size times radius (aggarwal2006, section 1); "
           "lower is better"),
    Metric("cost", "${cost}", "${objective}",
           "what the method's guarantee is about: max_radius (r_gather), cellular_cost "
           "(r_cellular, and cellular with the facility costs), generalized cells, each by its "
           "share of the levels (forest, pairs, triples), or class_size_max (methods of one "
           "attribute; ordered with objective 'quadratic': quadratic_penalty); lower is better"),
    Metric("lower_bound", BOUND, "${objective}",
           "the cost that no grouping is below, found on this run; around published centers that "
           "may be any points, with centers 'rows' any rows"),
    Metric("ratio", filled("CASE WHEN ${cost} = 0 THEN 1 ELSE ${cost} / nullif(${bound}, 0) END",
                           bound=BOUND), "ratio",
           "cost / lower_bound: how far from the best it may be, at most; 1 is best"),
    Metric("guaranteed_ratio", filled("CASE WHEN ${as_grouped} THEN ${proven} END",
                                      proven=_grouped("guaranteed_ratio")), "ratio",
           "what cost / the least possible cost is at most, by proof; NULL where an option or "
           "blocks void the proof, where classes of one attribute release the same, or where "
           "published centers cost more than the proof says", public="yes"),
    Metric("centers_equal_to_a_row", "centers_equal_to_a_row", "centers",
           "published centers that are a row of the relation, equal in all quasi-identifiers; "
           "NULL where no centers are published; lower is better"),
    Metric("total_il", _measured("released_il"), "cells",
           "Total-IL of what is released: over all rows, the sum of range / domain of numbers and "
           "height of the label / height of the hierarchy of categories (without one 1 for several "
           "values), 1 for a cell of which nothing is released, all cells of a suppressed row, and "
           "1 where a range or set hides a NULL (byun2006, definitions 7 and 8); NULL where a "
           "column is released as points, which say nothing of a range; lower is better",
           public="whole"),
    Metric("ncp", _share(_measured("released_il")), "share",
           "total_il per cell: 0 where nothing is lost, 1 where everything is; lower is better",
           public="whole"),
    Metric("ncp_distinct", _share(_measured("released_distinct")), "share",
           "as ncp, but a category loses (values - 1) / (values of the column - 1), of the set or "
           "below the label (each level of a hierarchy counts what its nodes have on average); "
           "lower is better", public="whole"),
    Metric("entropy_loss", _measured("released_entropy"), "bits per cell",
           "the entropy of the values that a released cell may stand for, by their frequencies in "
           "the relation, on average (entropy measure, Gionis and Tassa 2009); NULL where total_il "
           "is; lower is better", public="yes"),
    Metric("total_il_grouping", _total("total_il"), "cells",
           "Total-IL of the grouping, as if each class released the range of its numbers, and of "
           "categories the lowest common ancestor; and every quasi-identifier of a suppressed row; "
           "lower is better", public="whole"),
    Metric("ncp_grouping", _share(_total("total_il")), "share",
           "total_il_grouping per cell; lower is better", public="whole"),
    Metric("ncp_distinct_grouping", _share(_total("total_distinct")), "share",
           "as ncp_grouping, but a category loses by its number of values, as in ncp_distinct; "
           "lower is better", public="whole"),
    Metric("entropy_loss_grouping", _measured("entropy_loss"), "bits per cell",
           "what it takes on average to tell a cell's value from those of its class, or of the "
           "range or node that they span, by their frequencies in the relation (non-uniform "
           "entropy, Gionis and Tassa 2009), of the released rows; lower is better", public="yes"),
    Metric("intra_cluster_distance", _measured("intra_cluster_distance"), "cells",
           "sum over the classes of rows times the largest distance of two rows (byun2006, "
           "definition 3); NULL where classes are too large to compare all pairs; lower is better"),
    Metric("discernibility", "coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed",
           "rows squared",
           "sum of squared class sizes, and rows_in for each suppressed row; lower is better",
           public="yes"),
    Metric("c_avg", "rows_released::DOUBLE / nullif(classes, 0) / ${k}", "ratio",
           "rows per class on average over k (LeFevre et al. 2006); 1 is best", public="yes"),
    Metric("overfull_ratio", "largest::DOUBLE / ${k}", "ratio",
           "rows of the largest class over k (du2009, section 5); 1 is best", public="yes"),
    Metric("quadratic_penalty", "coalesce(squares, 0) - ${k} * rows_released::DOUBLE",
           "rows squared",
           "sum over the classes of size times (size - k) (du2009, section 1); lower is better",
           public="yes"),
    Metric("classification_metric",
           "(strangers + rows_in - rows_released)::DOUBLE / nullif(rows_in, 0)", "share",
           "rows that are suppressed or whose class_label is not that of the majority of their "
           "class (Iyengar 2002); NULL without class_label; lower is better", public="yes"),
    Metric("unchanged_columns", "unchanged_columns", "columns",
           "columns that pass unchanged, sensitive ones among them", public="yes"),
    Metric("unique_in_unchanged", "unique_in_unchanged", "rows",
           "released rows that no other equals in all columns that pass unchanged: who knows these "
           "of a person finds the row; lower is better", public="yes",
           words="CASE WHEN unique_in_unchanged = 0 THEN 'no row is unique in them' "
                 "ELSE format('{:,} rows are unique in them', unique_in_unchanged) END"),
    Metric("prosecutor_risk_max", "1.0::DOUBLE / smallest", "probability",
           "largest chance that a prosecutor finds a person's row: 1 / k",
           public="yes", words="format('at most 1 chance in {:,}', smallest)"),
    Metric("prosecutor_risk_mean", "classes::DOUBLE / nullif(rows_released, 0)", "probability",
           "chance that a prosecutor finds a person's row, on average over the rows", public="yes",
           words="format('1 chance in {:.3g} on average', rows_released::DOUBLE / classes)"),
    Metric("seconds_total",
           filled("verified - started + ${before}", before=_grouped("seconds_remembered")),
           "seconds",
           "what the release takes: from the start of the query to the end of the verification, "
           "and seconds_group besides where grouping_cache is 'hit'"),
    Metric("seconds_read", filled("${begun} - started", begun=_grouped("started")), "seconds",
           "reading and collecting the rows"),
    Metric("seconds_encode", _grouped("seconds_encode"), "seconds",
           "standardizing, coding and ordering the rows"),
    Metric("seconds_group", _grouped("seconds_group"), "seconds",
           "the method itself; where grouping_cache is 'hit', what it took when they were made"),
    Metric("seconds_generalize",
           filled("generalized - ${finished}", finished=_grouped("finished")), "seconds",
           "aggregating what each class releases, and building the released rows"),
    Metric("seconds_verify", "verified - generalized", "seconds",
           "counting the classes of the released rows"),
    Metric("method", "${method}", "", "how the rows were grouped", True),
    Metric("gamma", _grouped("gamma"), "",
           "the gamma that v_mdav used, given or best; NULL where blocks chose different ones",
           public="yes"),
    Metric("blocks", _grouped("blocks"), "blocks",
           "blocks that were grouped each on its own; 1 where the rows were grouped as one",
           public="yes"),
    Metric("spanning_degree", _grouped("spanning_degree"), "neighbours",
           "largest degree d of the spanning tree of zip_regions, on which its guarantee depends",
           public="yes"),
    Metric("islands", _grouped("islands"), "components",
           "components of the graph with fewer than k rows (zip_regions)"),
    Metric("rows_without_place", _grouped("rows_without_place"), "rows",
           "rows without a latitude or a longitude; they are a class (gps_rectangles)"),
    Metric("island_rows", _grouped("island_rows"), "rows", "rows whose code lies in one of them"),
    Metric("codes_unknown", _grouped("codes_unknown"), "codes",
           "codes of the data that the graph doesn't know; each is a component of its own"),
    Metric("refine_steps", _grouped("refine_steps"), "steps",
           "rows that refine or the method best visited; given as refine_steps, the same release",
           public="yes"),
    Metric("refine_end",
           filled("CASE ${stopped} WHEN '0.0' THEN 'steps' WHEN '1.0' THEN 'seconds' END",
                  stopped=_grouped_text("refine_stopped")), "",
           "what ended the search: its 'steps', or its 'seconds'", True),
    Metric("grouping_cache", _grouped_text("grouping_cache"), "",
           "'hit' where the grouping is that of an earlier call on the same content (also of a "
           "query that is planned or run twice), else 'miss'", True),
    Metric("options", "${options}", "JSON", "all options as they were used", True),
    Metric("seed", "${seed}", "", "the seed", True),
    Metric("version", "${version}", "", "of kanon_sql, and of DuckDB", True),
)

CHOSEN = _grouped_text("method")
"""SQL of the method where 'auto' chose it."""

DIVERSITY = (
    Metric("homogeneous_rows", "", "rows",
           "released rows whose class has one value of the sensitive column only (byun2006, "
           "definition 10); lower is better", public="yes"),
    Metric("homogeneous_sensitive_rows", "", "rows",
           "those of them whose one value is among sensitive_values; lower is better",
           public="yes"),
)
"""Measured once for each sensitive column."""

ATTRIBUTE = Metric(
    "ncp", "", "share",
    "total_il of this quasi-identifier alone, per row, without its weight; NULL where it can't be "
    "told; lower is better",
    public="whole",
)
"""Measured once for each quasi-identifier."""

NOTICE = Metric(
    "notice", "", "", "what a user should know of a column, or of the method, before the release",
    True,
)
"""One row for each."""

VERBATIM = Metric(
    "original_values", "", "classes",
    "classes that release a value of one of their rows, although their rows differ in this "
    "quasi-identifier; NULL where the representation is no point; lower is better",
)
"""Measured once for each quasi-identifier, of a release as it is made."""

OF_GROUPING = Metric(
    "ncp_grouping", "", "share",
    "total_il_grouping of this quasi-identifier alone, per row, without its weight; lower is "
    "better",
    public="whole",
)
"""The same of anonymize_metrics alone."""

def _listed(columns: str) -> str:
    """How many columns there are in a list, where identifiers were named; NULL is none."""
    return filled("CASE WHEN ${named} THEN coalesce(len(${columns}), 0) END", columns=columns,
                  named="${identifiers_named}")


AUDIT = (
    *(m for m in METRICS if m.name in (
        "rows", "rows_released", "rows_suppressed", "classes",
        "class_size_mean", "class_size_max", "k_requested",
    )),
    Metric("k", "smallest", "rows", "the k that holds, counted on the released values"),
    Metric("rows_below_k", "CASE WHEN ${k} IS NOT NULL THEN below END", "rows",
           "rows in classes smaller than k; NULL without k"),
    *(replace(m, expression=expression)
      for name, expression in (("total_il", _audited("total_il")), ("ncp", _audited("ncp")))
      for m in METRICS if m.name == name),
    Metric("ncp_at_least", _audited("ncp_at_least"), "share",
           "what ncp is at least: that of the cells of which it can be told, and all cells of the "
           "rows that the release lacks"),
    Metric("ncp_at_most", _audited("ncp_at_most"), "share",
           "what ncp is at most: as ncp_at_least, and 1 for every cell of which it can't be told"),
    *(replace(m, expression=_audited("entropy_loss")) for m in METRICS if m.name == "entropy_loss"),
    Metric("cells_unread", _audited("unread"), "cells",
           "released values that are no value, interval, set or label of the source, such as the "
           "labels of a hierarchy that the audit isn't given: what they lose can't be told"),
    Metric("cells_points", _audited("points"), "cells",
           "released numbers that are no value of the source, such as centroids; they say nothing "
           "of a range, so what their column loses can't be told"),
    *(m for m in METRICS if m.name in (
        "discernibility", "c_avg", "classification_metric", "prosecutor_risk_max",
        "prosecutor_risk_mean"
    )),
    Metric("identifiers_released", _listed("${identifiers_released}"), "columns",
           "identifiers that the release has a column of, by name, the names in the column text; "
           "0 is best; NULL where the call names no identifiers",
           beside="array_to_string(${identifiers_released}, ', ')"),
    Metric("identifiers_determined", _listed("${identifiers_determined}"), "columns",
           "other columns that stand unchanged in the release and determine an identifier, since "
           "in the source each of their values is that of one identifier only, the names in the "
           "column text, with the identifier in parentheses; 0 is best; NULL where the call names "
           "no identifiers",
           beside="array_to_string(${identifiers_determined}, ', ')"),
)
"""What can be measured on any pair of a source and a release of it."""
