"""Which options go together: rules between the method, its options and all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.errors import OptionError
from kanon_sql.methods import METHODS, Method

SPECIAL = tuple(
    dict.fromkeys(
        name for method in METHODS.values() for name in method.options
        if not name.startswith("refine")
    )
)
"""The options that only some methods take."""


FIXED_K = {"pairs": 2, "triples": 3}
"""Methods for one k only."""


WIDTHS = {"labels": 1, "nodes": 1, "values": 1, "places": 2}
"""How many quasi-identifiers a method of one attribute takes, by what its items are."""

INSTEAD = {
    "nodes": "{{'{0}': {{'kind': 'adjacency', 'adjacency': 'county_adjacency'}}}}",
    "labels": "{{'{0}': 'cover'}}",
    "values": "{{'{0}': 'bins'}}",
    "places": "{{'place': 'rectangles'}}, where place holds latitude and longitude in one column",
}
"""What generalizes such an attribute beside other quasi-identifiers."""


def refuse_width(method: Method, names: Sequence[str]) -> None:
    """Raises OptionError unless the method of one attribute takes that many quasi-identifiers."""
    width = WIDTHS[method.items]
    if len(names) == width:
        return
    takes = "one quasi-identifier" if width == 1 else "a latitude and a longitude"
    are = "is one" if len(names) == 1 else f"are {len(names)}"
    raise OptionError(
        f"The method {method.name!r} generalizes {takes}, and there {are}: {', '.join(names)}. "
        "Give the others another role, or take a method such as k_member with hierarchies := "
        + INSTEAD[method.items].format((names[0] if names else "zip").replace("'", "''")) + "."
    )


def check_method_options(call: str, options: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Checks options against each other, and fills in those that follow from the method.

    Args:
        call: the SQL call.
        options: all options, read; completed in place, ``by_hierarchy`` is added.
        given: option names and raw values; None stands for "not given".

    Raises:
        OptionError: options that don't go together.
    """
    _check_recoding(options, given)
    method = METHODS[options["method"]]
    for name in SPECIAL:
        if given.get(name) is not None and name not in method.options:
            takers = [m.name for m in METHODS.values() if name in m.options]
            raise OptionError(
                f"The method {method.name!r} takes no {name}. Leave it out, or use "
                f"{' or '.join(takers)}."
            )
    _check_k(call, method, options, given)
    _check_distance(method, options, given)
    for name, needed in (("diversity_penalty", "diversity"), ("class_penalty", "class_label")):
        if given.get(name) is not None and options[needed] is None:
            raise OptionError(f"{name} is given without {needed}. Add it, or leave {name} out.")
    if options["diversity"] == "sensitive" and not options["sensitive_values"]:
        raise OptionError(
            "diversity 'sensitive' needs to know which values are sensitive. Add "
            "sensitive_values := [...]."
        )
    _check_refine(method, options, given)
    _check_items(method, options, given)
    if method.has_centers and options["suppress"] > 0.0:
        instead = "Use epsilon" if "epsilon" in method.options else "Leave suppress out"
        raise OptionError(
            f"The method {method.name!r} can't suppress rows afterwards: that would move its "
            f"centers. {instead}."
        )
    if given.get("block_rows") is not None and not method.in_blocks:
        raise OptionError(
            f"The method {method.name!r} groups all rows as one. Leave block_rows out."
        )
    _choose_representation(method, options)


def _check_recoding(options: dict[str, Any], given: Mapping[str, Any]) -> None:
    if options["recoding"] == "global":
        if given.get("method") not in (None, "full_domain"):
            raise OptionError(
                "recoding 'global' searches the levels by itself. Leave method out."
            )
        options["method"] = "full_domain"
    if options["method"] == "full_domain":
        if given.get("recoding") == "local":
            raise OptionError("The method 'full_domain' is recoding 'global'. Leave recoding out.")
        options["recoding"] = "global"
        if given.get("representation") not in (None, "hierarchy"):
            raise OptionError(
                "recoding 'global' releases the levels of hierarchies. Leave representation out."
            )


def _check_k(
    call: str, method: Method, options: dict[str, Any], given: Mapping[str, Any]
) -> None:
    if method.promises_k:
        if options["k"] is None:
            raise OptionError(
                "k is not given. Say how many rows must share each combination of "
                "quasi-identifiers, for example k=5."
            )
        fixed = FIXED_K.get(method.name)
        if fixed is not None and options["k"] != fixed:
            raise OptionError(
                f"The method {method.name!r} is for k = {fixed} only, and k is {options['k']}. Use "
                f"forest, which takes any k."
            )
        return
    if call not in ("anonymize_clusters", "anonymize_metrics"):
        raise OptionError(
            f"The method {method.name!r} promises no class size, so its rows can't be released. "
            "Use r_cellular, or publish its clusters by anonymize_clusters."
        )
    if given.get("k") is not None:
        raise OptionError(
            f"The method {method.name!r} promises no class size. Leave k out, or use r_cellular."
        )
    options["k"] = 1 if options["allow_small"] or call == "anonymize_metrics" else 2


def _check_distance(
    method: Method, options: dict[str, Any], given: Mapping[str, Any]
) -> None:
    if method.objective and (given.get("distance") or given.get("loss")):
        own = "by metric" if method.has_centers else (
            "the rows of its classes" if method.items else "generalized cells"
        )
        name = "distance" if given.get("distance") else "loss"
        raise OptionError(f"The method {method.name!r} measures {own}. Leave {name} out.")
    if method.has_centers:
        options["metric"] = options["metric"] or "euclidean"
        if options["metric"] == "haversine":
            for name in ("weights", "hierarchies"):
                if options[name]:
                    raise OptionError(
                        f"The metric 'haversine' measures kilometres, where {name} have no "
                        "meaning. Leave them out."
                    )
    if method.objective:
        options["distance"] = "sse"
        return
    if options["distance"] is None:
        options["distance"] = method.distances[0]
    if options["distance"] not in method.distances:
        raise OptionError(
            f"The method {method.name!r} works in the distance {method.distances[0]!r} only. "
            "Leave distance out, or use another method."
        )
    if given.get("loss") is not None and not (
        options["distance"] == "loss" and method.loss_points
    ):
        raise OptionError(
            f"The method {method.name!r} works in squared distances here, where loss has no "
            "meaning. Leave loss out, or use k_member, or best with distance='loss'."
        )


def _check_items(method: Method, options: dict[str, Any], given: Mapping[str, Any]) -> None:
    """What goes with a method of one attribute, and what goes with no other."""
    if not method.items:
        if options["representation"] == "number":
            raise OptionError(
                "The representation 'number' would release nothing but the number of the class, "
                f"and the method {method.name!r} generalizes all quasi-identifiers. Choose another."
            )
        return
    for name in ("weights", "hierarchies", "suppress"):
        if options[name]:
            raise OptionError(
                f"The method {method.name!r} looks at the values of one attribute and how often "
                f"they occur, where {name} has no meaning. Leave it out."
            )
    if method.items == "nodes" and not (options["adjacency"] or options["places"]):
        raise OptionError(
            "The method 'zip_regions' needs to know which codes are neighbours. Add adjacency := "
            "'pairs', a relation with two columns, or places := 'centroids', one with a code, its "
            "latitude and its longitude."
        )
    if options.get("islands") == "nearest" and not options["places"]:
        raise OptionError(
            "islands 'nearest' needs to know where codes lie. Add places := 'centroids', a "
            "relation with a code, its latitude and its longitude."
        )
    if method.name == "bin_cover" and options["epsilon"] == 0.0:
        raise OptionError("epsilon must be above 0 for bin_cover, such as 0.5. Got 0.")
    if options.get("tight") and options.get("extent"):
        raise OptionError(
            "tight releases the box around each class, wherever extent ends. Leave one of them out."
        )


def _check_refine(
    method: Method, options: dict[str, Any], given: Mapping[str, Any]
) -> None:
    if options["refine"] == "local" and method.name == "k_member":
        if options["diversity"] is not None:
            raise OptionError(
                "refine knows nothing of diversity, and would undo it. Leave one of them out."
            )
        if options["class_label"] is not None and options["class_penalty"] != 0.0:
            raise OptionError(
                "refine knows nothing of class labels, and would undo what class_penalty does. "
                "Leave refine out, or set class_penalty := 0."
            )
    if options["refine"] == "local" and options.get("max_clusters") is not None:
        raise OptionError(
            "refine divides classes, which max_clusters forbids. Leave one of them out."
        )
    if given.get("refine") is not None and "refine_steps" in method.options:
        raise OptionError(f"The method {method.name!r} refines by itself. Leave refine out.")
    if options["refine"] == "local" and not method.refinable:
        raise OptionError(f"The method {method.name!r} can't be refined. Leave refine out.")
    for name in ("refine_steps", "refine_seconds"):
        if given.get(name) is not None and not (
            options["refine"] == "local" or name in method.options
        ):
            raise OptionError(
                f"{name} is given, but nothing is refined. Add refine='local', or use the method "
                "'best'."
            )


def _choose_representation(method: Method, options: dict[str, Any]) -> None:
    chosen = options["representation"]
    every = options["recoding"] == "global" or options["metric"] == "taxonomy"
    if chosen == "hierarchy" and not (options["hierarchies"] or every):
        raise OptionError(
            "The representation 'hierarchy' needs hierarchies. Add hierarchies := {'zip': "
            "'prefix'}, for example."
        )
    options["by_hierarchy"] = chosen == "hierarchy" or (chosen is None and not method.has_centers)
    if chosen in (None, "hierarchy"):
        own = method.representation
        options["representation"] = "interval" if own == "hierarchy" else own
