"""The registry of options. The SQL macros, the Python API, the shell and the documentation are
made from it, so that each option is described once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import kanon_sql.validators as checks
from kanon_sql.call.choices import (
    CENTERS,
    DISTANCES,
    DIVERSITIES,
    ISLANDS,
    LOSSES,
    METRICS,
    NULLS,
    OBJECTIVES,
    PARTITIONINGS,
    RECODINGS,
    REFINES,
    REPRESENTATIONS,
    SEQUENCES,
    STARTS,
)
from kanon_sql.call.rules import check_method_options
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.methods import METHODS

GROUPING_CALLS = (
    "anonymize", "anonymize_clusters", "anonymize_metrics", "anonymize_suppressed", "anonymize_sql"
)
AUDITS = ("k_anonymity", "anonymize_audit")
ALL_CALLS = (*GROUPING_CALLS, *AUDITS)
MEASURED_CALLS = (*GROUPING_CALLS, "anonymize_audit")


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: what a user types, in every face.
        type: its SQL type, for the documentation.
        default: the value when it isn't given, as checked.
        default_text: how the documentation names the default.
        description: one sentence.
        read: checks a value and brings it to its Python form; raises OptionError.
        calls: the SQL calls that take it.
        roles: whether its value names columns of the relation.
    """

    name: str
    type: str
    default: Any
    default_text: str
    description: str
    read: Callable[[Any], Any]
    calls: tuple[str, ...] = GROUPING_CALLS
    roles: bool = False


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            "k", "INTEGER", None, "must be given",
            "The least number of released rows that share each combination of quasi-identifiers; "
            "for k_anonymity, the k below which classes and rows are counted (optional there).",
            checks.whole("k", 1), ALL_CALLS,
        ),
        Option(
            "method", "VARCHAR", "mdav_star", "'mdav_star'",
            "How rows are put into groups; anonymize_methods() lists all.",
            checks.one_of("method", METHODS),
        ),
        Option(
            "quasi_identifiers", "VARCHAR[]", (), "declared, else all other columns",
            "The columns to generalize, because together they may identify a person.",
            checks.names("quasi_identifiers"), ALL_CALLS, roles=True,
        ),
        Option(
            "sensitive", "VARCHAR[]", (), "declared, else none",
            "The columns that pass unchanged because they are what the release is for.",
            checks.names("sensitive"), ALL_CALLS, roles=True,
        ),
        Option(
            "identifiers", "VARCHAR[]", (), "declared, else none",
            "The columns to drop, because each alone identifies a person.",
            checks.names("identifiers"), ALL_CALLS, roles=True,
        ),
        Option(
            "hierarchies", "STRUCT or MAP", {}, "none",
            "A generalization hierarchy for each of some quasi-identifiers: the name of a table, "
            "view or file with columns level0 (leaf) .. levelN or child and parent, or a kind such "
            "as 'prefix', or {'kind': 'bins', 'width': 10}; see hierarchy().",
            checks.hierarchies, MEASURED_CALLS,
        ),
        Option(
            "representation", "VARCHAR", None,
            "'hierarchy' for columns that have one, else the method's own; methods that choose "
            "centers publish those",
            "What a class releases in place of its values: "
            + "; ".join(f"'{name}' is {text}" for name, text in REPRESENTATIONS.items()) + ".",
            checks.one_of("representation", REPRESENTATIONS),
        ),
        Option(
            "distance", "VARCHAR", None, "the method's own, 'sse' for the MDAV family",
            "The geometry in which a method works: "
            + "; ".join(f"'{name}' is {text}" for name, text in DISTANCES.items()) + ".",
            checks.one_of("distance", DISTANCES),
        ),
        Option(
            "loss", "VARCHAR", "range_flat", "'range_flat'",
            "What distance 'loss' charges beside the range of numbers: with "
            + "; with ".join(f"'{name}' {text}" for name, text in LOSSES.items()) + ".",
            checks.one_of("loss", LOSSES),
        ),
        Option(
            "recoding", "VARCHAR", "local", "'local'",
            "'local' generalizes each class as little as it needs; 'global' brings all values of a "
            "column to the same level of its hierarchy (method full_domain), and gives numbers, "
            "dates and texts without a hierarchy the built-in 'bins', 'date' and 'flat'.",
            checks.one_of("recoding", RECODINGS),
        ),
        Option(
            "suppress", "DOUBLE", 0.0, "0",
            "The share of the rows that may be left out where that lowers the loss; each costs "
            "what a row costs that is generalized to nothing in every quasi-identifier.",
            checks.share("suppress"),
        ),
        Option(
            "class_label", "VARCHAR", None, "none",
            "A column that a classifier is to learn from the release; it passes unchanged, "
            "classification_metric is measured for it, and k_member prefers rows with the label "
            "of the majority of their class.",
            checks.name("class_label", "'income'"), MEASURED_CALLS, roles=True,
        ),
        Option(
            "class_penalty", "DOUBLE", None, "1",
            "k_member only: what a row of another class label costs, in quasi-identifier cells.",
            checks.number("class_penalty"),
        ),
        Option(
            "diversity", "VARCHAR", None, "none",
            "k_member only: 'equal' avoids classes that have one sensitive value only, 'sensitive' "
            "those whose one value is among sensitive_values. Needs one sensitive column.",
            checks.one_of("diversity", DIVERSITIES),
        ),
        Option(
            "diversity_penalty", "DOUBLE", None, "1",
            "k_member only: what a row costs that leaves its class without diversity, in "
            "quasi-identifier cells.",
            checks.number("diversity_penalty"),
        ),
        Option(
            "sensitive_values", "VARCHAR[]", (), "none",
            "The values of sensitive columns that are truly sensitive, for sensitive_diversity.",
            checks.texts("sensitive_values"), MEASURED_CALLS,
        ),
        Option(
            "start", "VARCHAR", None, "'last'",
            "k_member only: a class starts with the row furthest from the 'last' row added "
            "(byun2006, figure 8), or from the one before's start, its 'seed' (section 4.3).",
            checks.one_of("start", STARTS),
        ),
        Option(
            "partitioning", "VARCHAR", None, "'strict'",
            "mondrian only: 'strict' keeps equal values on one side of a cut, 'relaxed' may put "
            "them on both.",
            checks.one_of("partitioning", PARTITIONINGS),
        ),
        Option(
            "metric", "VARCHAR", None, "'euclidean'",
            "r_gather, cellular and r_cellular only: how far apart two rows are: "
            + "; ".join(f"'{name}' is {text}" for name, text in METRICS.items()) + ".",
            checks.one_of("metric", METRICS),
        ),
        Option(
            "epsilon", "DOUBLE", None, "0",
            "r_gather and r_cellular: the share of the rows that may be left out, so that a few "
            "outliers don't widen the classes; bin_cover: how coarsely it rounds (above 0, 0.5 "
            "unless given).",
            checks.share("epsilon"),
        ),
        Option(
            "max_clusters", "BIGINT", None, "no limit",
            "r_gather only: the most classes.",
            checks.whole("max_clusters", 1),
        ),
        Option(
            "centers", "VARCHAR", None, "'anywhere'",
            "r_gather only: with 'rows' the published center of each class is a row, with "
            "'anywhere' its centroid where that has no larger radius.",
            checks.one_of("centers value", CENTERS),
        ),
        Option(
            "facility_cost", "DOUBLE or VARCHAR", None,
            "the mean distance to the fifth nearest row",
            "cellular only: what it costs to open a cluster, a number or the column that has it "
            "for each row as center (that column passes unchanged).",
            checks.facility_cost, roles=True,
        ),
        Option(
            "allow_small", "BOOLEAN", None, "false",
            "cellular only: whether anonymize_clusters publishes clusters of one row.",
            checks.flag("allow_small"),
        ),
        Option(
            "max_diameter", "DOUBLE", None, "no limit",
            "r_cellular only: the largest distance of two rows of a class, in the metric.",
            checks.positive("max_diameter"),
        ),
        Option(
            "neighbours", "BIGINT", None, "all rows",
            "pairs and triples only: how many nearest rows of each row are looked at. Less than "
            "all takes larger tables, without a guarantee.",
            checks.whole("neighbours", 1),
        ),
        Option(
            "adjacency", "VARCHAR", None, "none",
            "zip_regions only: a table, view or file with two columns, the codes that are "
            "neighbours (either way round, or both).",
            checks.name("adjacency", "'county_adjacency'"),
        ),
        Option(
            "places", "VARCHAR", None, "none",
            "zip_regions only: a table, view or file with three columns, a code, its latitude and "
            "its longitude (or x and y). Without adjacency codes are neighbours by the Delaunay "
            "triangulation of their places.",
            checks.name("places", "'zip_centroids'"),
        ),
        Option(
            "islands", "VARCHAR", None, "'error'",
            "zip_regions only: what becomes of codes that are connected with fewer than k rows, or "
            "that the graph doesn't know: "
            + "; ".join(f"'{name}' {text}" for name, text in ISLANDS.items()) + ".",
            checks.one_of("islands value", ISLANDS),
        ),
        Option(
            "extent", "STRUCT or MAP", None, "the smallest box around the data",
            "gps_rectangles only: the box that the rectangles cover, such as {'lat': [-90, 90], "
            "'lon': [-180, 180]}. Without it the outermost rectangles end at real coordinates.",
            checks.extent,
        ),
        Option(
            "tight", "BOOLEAN", None, "false",
            "gps_rectangles only: releases the smallest box around the places of each class. Its "
            "sides are real coordinates, and boxes don't cover the ground between them.",
            checks.flag("tight"),
        ),
        Option(
            "wkt", "BOOLEAN", None, "false",
            "gps_rectangles only: adds each row's rectangle as the column wkt, a POLYGON with the "
            "longitude (or the first of the two columns) as x.",
            checks.flag("wkt"),
        ),
        Option(
            "sequence", "VARCHAR", None, "'sorted'",
            "fold and spread only: in which order labels are packed, 'sorted' from the most "
            "frequent down or 'random' (by seed).",
            checks.one_of("sequence", SEQUENCES),
        ),
        Option(
            "objective", "VARCHAR", None, "'largest'",
            "ordered only: what is made least, the 'largest' class or the 'quadratic' penalty, the "
            "sum of size times (size - k).",
            checks.one_of("objective", OBJECTIVES),
        ),
        Option(
            "release", "VARCHAR", None, "must be given",
            "anonymize_audit only: the released table, view or file that is held against the "
            "relation.",
            checks.name("release", "'released'"), ("anonymize_audit",),
        ),
        Option(
            "weights", "STRUCT or MAP", {}, "1 for every column",
            "How much a quasi-identifier counts in the grouping: its total variance, so squared "
            "distances along it are multiplied by it, and so is its information loss; 0 leaves it "
            "out of the grouping only.",
            checks.weights, MEASURED_CALLS,
        ),
        Option(
            "gamma", "DOUBLE or 'best'", "best", "'best'",
            "v_mdav only: how readily a group is extended; 'best' takes the one of 0.0, 0.1 .. "
            "2.0 with the least information loss, in each block its own.",
            checks.gamma,
        ),
        Option(
            "nulls", "VARCHAR", "value", "'value'",
            "What a NULL or NaN in a quasi-identifier is: 'value' groups it nearest to its like, "
            "'suppress' leaves such rows out and counts them, 'error' refuses.",
            checks.one_of("nulls", NULLS),
        ),
        Option(
            "seed", "BIGINT", 0, "0",
            "Decides the order among equal rows, the order of the release and class_id; the same "
            "seed gives the same release.",
            checks.whole("seed", 0),
        ),
        Option(
            "refine", "VARCHAR", "none", "'none'",
            "Whether the groups of the method are refined: 'local' searches for moves, swaps, "
            "splits and mergers of groups that lower the squared error (of k_member, nearest and "
            "mondrian total_il, of forest, pairs and triples the generalized cells), and never "
            "ends higher; classes with centers are only divided, so that every guarantee stays.",
            checks.one_of("refine", REFINES),
        ),
        Option(
            "refine_steps", "BIGINT", None, "by the number of rows",
            "How many rows refine, or the method best, visits; the release depends on it.",
            checks.whole("refine_steps", 0),
        ),
        Option(
            "refine_seconds", "DOUBLE", None, "no limit",
            "Stops the search of refine, or of the method best, after that time (beside what it "
            "starts from); anonymize_metrics tells the steps made, which as refine_steps give the "
            "same release again.",
            checks.positive("refine_seconds"),
        ),
        Option(
            "block_rows", "BIGINT", None,
            "500,000; 50,000 for methods that choose centers",
            "The most rows that are grouped as one, at least 50 times k; more are cut into blocks "
            "of rows close to each other, which are grouped on all cores, and the groups along the "
            "cuts refined (not of methods that choose centers). "
            + ", ".join(m.name for m in METHODS.values() if not m.in_blocks)
            + " group all rows as one.",
            checks.whole("block_rows", 1),
        ),
        Option(
            "progress", "BOOLEAN", True, "true",
            "Shows how far a long call is, if the standard error stream is a terminal.",
            checks.flag("progress"),
        ),
        Option(
            "show_values", "BOOLEAN", False, "false",
            "Errors about hierarchies show the values concerned, and anonymize_suppressed the "
            "suppressed rows. Never part of a release.",
            checks.flag("show_values"), MEASURED_CALLS,
        ),
        Option(
            "class_id", "BOOLEAN", False, "false",
            "Adds the number of each row's class as the column class_id.",
            checks.flag("class_id"),
        ),
        Option(
            "keep_order", "BOOLEAN", False, "false",
            "Releases the rows in the order of the relation. That order may say who they are.",
            checks.flag("keep_order"),
        ),
    )
}


def read_options(call: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a call: those given, checked, and the defaults of the others.

    Args:
        call: the SQL call, one of ALL_CALLS.
        given: option names and raw values; None stands for "not given".

    Raises:
        OptionError: an unknown option, a value out of range, a missing k.
    """
    known = {name: option for name, option in OPTIONS.items() if call in option.calls}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise OptionError(f"{call} has no option {name!r}. {hint}")
    options = {
        name: option.default if given.get(name) is None else option.read(given[name])
        for name, option in known.items()
    }
    if call in GROUPING_CALLS:
        check_method_options(call, options, given)
    if call == "anonymize_audit" and options["release"] is None:
        raise OptionError(
            "release is not given. Name the released table beside its source, for example "
            "anonymize_audit('patients', release='released')."
        )
    return options
