"""The SQL of privacy models: for each combination of released values whether it keeps them, and
what it has on the scale of each threshold. Whole numbers where the threshold is a fraction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.call.call import GroupingCall
from kanon_sql.constraints import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntityShare,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from kanon_sql.constraints.rational import DECIMALS, as_fraction
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import seen
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.sql import expression, statement

KNOWN = " WHERE label IS NOT NULL"
"""Leaves missing values out."""


@dataclass(frozen=True)
class Checked:
    """A model, and the places of its stages.

    Attributes:
        model: the model.
        i: of its column among those that are looked at.
        j: its own.
        in_parts: whether each part is held against its own rows, not against those of all.
    """

    model: PrivacyModel
    i: int | str
    j: int | str
    in_parts: bool = False

    @property
    def stage(self) -> str:
        """The stage that has a row for each combination: its size, whether it passes, what it
        has."""
        return f"__kanon_model_{self.j}"

    @property
    def worst(self) -> str:
        """The aggregate that gives what the worst combination has; qualified, so that it is one
        whatever macros there are, and gives one row."""
        low = isinstance(self.model, (DistinctDiversity, EntropyDiversity))
        return f"system.main.{'min' if low else 'max'}(has)"


def checked(
    models: Iterable[PrivacyModel], columns: Sequence[str], in_parts: bool = False
) -> list[Checked]:
    """The models with their places; ``columns`` are those that are looked at."""
    spots = {caseless(column): i for i, column in enumerate(columns)}
    return [
        Checked(model, spots[caseless(model.column)], j, in_parts) for j, model in enumerate(models)
    ]


def of_part(in_parts: bool) -> dict[str, str]:
    """What fills the holes by which a stage keeps parts from each other; nothing without parts."""
    if not in_parts:
        empty = ("part", "of_part", "by_part", "window", "grouped", "using", "and_part")
        return dict.fromkeys(empty, "") | {"join": "CROSS JOIN", "ordered_of": "ordered"}
    return {
        "part": "part, ", "of_part": "__kanon_labelled.__kanon_part AS part, ",
        "by_part": "__kanon_labelled.__kanon_part, ", "window": "PARTITION BY part ",
        "grouped": " GROUP BY part", "using": " USING (part)", "join": "JOIN",
        "and_part": "own.part = line.part AND ", "ordered_of": "bool_or(ordered)",
    }


def _histogram_stage(i: int | str, histogram: str, in_parts: bool) -> str:
    """The stages of what models look at, of one column."""
    placed = f"__kanon_histogram_{i}.part, " if in_parts else ""
    alike = f"\n        AND __kanon_histogram_{i}.part = __kanon_domain_{i}.part"
    return statement(
        "models.histogram", i=i, histogram=histogram, placed=placed,
        alike=alike if in_parts else "", **of_part(in_parts),
    )


def model_stages(
    models: Sequence[Checked], columns: Sequence[str], histogram: Callable[[int, str], str],
    trees: Mapping[str, int] | None = None, in_parts: bool = False,
) -> str:
    """The stages of the models and of what they look at.

    Args:
        models: each becomes a stage.
        columns: the sensitive columns.
        histogram: SQL of combination, label, sorted, number and size, of a column by its place
            and its name in quotes.
        trees: the numbers of the hierarchies of columns in lower case.
        in_parts: as in Checked; the histograms tell the part, too.
    """
    trees, stages = trees or {}, []
    for i, column in enumerate(columns):
        stages.append(_histogram_stage(i, histogram(i, quoted(column)), in_parts))
        if caseless(column) in trees:
            stages.append(statement("models.paths", i=i, tree=trees[caseless(column)]))
            nodes = statement("models.histogram_of_nodes", i=i, **of_part(in_parts))
            stages.append(_histogram_stage(f"{i}_nodes", nodes, in_parts))
    for each in models:
        stages += stages_of(each, caseless(each.model.column) in trees)
    return "".join(f"{stage}\n" for stage in stages)


def stages_of(each: Checked, has_tree: bool) -> list[str]:
    """The stages of a model, the last one its own."""
    before, text = _stage(each, has_tree)
    return [*before, f"{each.stage} AS MATERIALIZED (\n    {text}\n),"]


def secret_trees(call: GroupingCall) -> Hierarchies:
    """The stages of the hierarchies of sensitive columns; their numbers follow those of the
    others."""
    return Hierarchies(
        call.of_sensitive, call.show_values, "__kanon_kept", first=len(call.hierarchies) + 1
    )


def released_models(call: GroupingCall) -> str:
    """The stages up to __kanon_models, of what is released; nothing without a model."""
    models = call.task.models
    if not models:
        return ""
    columns = call.task.sensitive
    in_parts = bool(call.roles.within)
    places = checked(models, columns, in_parts)
    stages = model_stages(
        places, columns, lambda i, column: _histogram(call, column),
        {caseless(name): number for number, name in secret_trees(call).numbered()}, in_parts,
    )
    broken = "\n    UNION ALL\n    ".join(
        statement("models.broken", j=each.j, worst=each.worst, stage=each.stage)
        for each in places
    )
    return f"{stages}{statement('models.stages', models=broken)}\n"


def _histogram(call: GroupingCall, column: str) -> str:
    """SQL of the histogram of a column, given in quotes, of what is released: of persons where
    these are grouped."""
    parts = of_part(bool(call.roles.within))
    if call.task.persons and call.roles.entity is not None:
        rows = statement(
            "models.values_released", column=column, entity=quoted(call.roles.entity), **parts
        )
        return statement("models.histogram_of_persons", rows=rows, **parts)
    return statement("models.histogram_released", column=column, **parts)


def combinations(call: GroupingCall) -> str:
    """The stage of the combinations of released values; nothing where nobody asks for it."""
    if not call.task.models and call.roles.entity is None:
        return ""
    columns = "COLUMNS(* EXCLUDE (__kanon_class))"
    return statement("models.combinations", seen=seen(columns)) + "\n"


def refusals_of_models(call: GroupingCall) -> str:
    """What refuses a release that misses a model, one WHEN for each."""
    return "".join(
        "        WHEN " + expression(
            "models.refused", j=j,
            said=literal(
                f" of its classes don't keep {told(model)}. Nothing came out; please report this "
                f"as a bug of the method {call.task.method.name}."
            ),
        ) + "\n"
        for j, model in enumerate(call.task.models)
    )


def told(model: PrivacyModel) -> str:
    """A model in words, without values of the data."""
    words = {
        name: value for name, value in model.told().items()
        if name not in ("name", "column", "nulls", "by_value") and value is not None
    }
    asked = ", ".join(f"{name} = {value}" for name, value in words.items())
    return f"{model.name} with {asked or 'alpha by value'} for the column {model.column!r}"


def _fraction(threshold: float, more: int = 0) -> dict[str, str]:
    """A threshold, to which a whole number is added, as a fraction that HUGEINT holds."""
    fraction = as_fraction(threshold) + more
    return {
        "over": f"{fraction.numerator}::HUGEINT", "under": f"{fraction.denominator}::HUGEINT"
    }


def _stage(each: Checked, has_tree: bool) -> tuple[list[str], str]:
    """The stages that a model needs before its own, and this."""
    model, i, parts = each.model, f"{each.i}", of_part(each.in_parts)
    worst = model.nulls == "worst"
    if has_tree and isinstance(model, (DistinctDiversity, EntropyDiversity, RecursiveDiversity)):
        i = f"{i}_nodes"
    if isinstance(model, DistinctDiversity):
        own = "" if worst else " + CASE WHEN missing > 0 THEN 1 ELSE 0 END"
        return [], statement("models.distinct", i=i, l=model.l, missing=own)
    if isinstance(model, (EntropyDiversity, RecursiveDiversity)):
        ranked = statement(
            "models.ranked", i=i, missing="missing" if worst else "0",
            known=KNOWN if worst else "",
        )
        if isinstance(model, EntropyDiversity):
            return [], statement("models.entropy", i=i, l=model.l, ranked=ranked)
        return [], statement(
            "models.recursive", i=i, l=model.l, ranked=ranked, **_fraction(model.c)
        )
    if isinstance(model, AlphaFrequency):
        return [], statement(
            "models.alpha", i=i, bound=_bound(model), least=_millionths(model.least_bound),
            missing="missing" if worst else "0", known=KNOWN if worst else "",
        )
    if isinstance(model, EntityShare):
        return [], statement("models.entity", i=i, k=model.k)
    if isinstance(model, Closeness):
        if has_tree and model.distance in (None, "hierarchy"):
            return [], statement("models.hierarchy", i=i, **_fraction(model.t), **parts)
        return _closeness(each, model)
    shares = statement("models.shares", i=i, **parts)
    if isinstance(model, DeltaDisclosure):
        return [], statement("models.delta", i=i, delta=model.delta, shares=shares, **parts)
    if isinstance(model, BetaLikeness):
        fits = expression(
            f"models.beta_{model.kind}", beta=model.beta, **_fraction(model.beta, 1)
        )
        return [], statement("models.beta", i=i, shares=shares, fits=fits)
    raise TypeError(f"No SQL checks the model {model.name}.")


def _millionths(share: float) -> str:
    return str(int(as_fraction(share) * 10**DECIMALS))


def _bound(model: AlphaFrequency) -> str:
    """SQL of the bound of a value in millionths, NULL without one."""
    plain = "NULL::BIGINT" if model.alpha is None else _millionths(model.alpha)
    cases = " ".join(
        f"WHEN {literal(value)} THEN {_millionths(share)}" for value, share in model.by_value
    )
    return f"CASE label {cases} ELSE {plain} END" if cases else plain


def _closeness(each: Checked, model: Closeness) -> tuple[list[str], str]:
    i, j, parts = each.i, each.j, of_part(each.in_parts)
    equal = statement("models.equal", i=i, **_fraction(model.t), **parts)
    if model.distance == "equal":
        return [], equal
    by_rank = model.distance != "numeric"
    as_value = by_rank and model.nulls == "value"
    known = "" if as_value else KNOWN
    if model.distance is None:
        # without an order nothing is moved along a line
        ordered = f"(SELECT {parts['ordered_of']} FROM __kanon_whole_{i})"
        known += f"{' AND' if known else ' WHERE'} {ordered}"
    position = "0" if by_rank else expression("models.position", i=i, **parts)
    line = statement("models.line", i=i, j=j, known=known, position=position, **parts)
    ranks = "ranks::DOUBLE / (steps::DOUBLE * (size - missing) * (whole - absent))"
    text = statement(
        "models.model_line", i=i, j=j, t=model.t, **_fraction(model.t),
        exact="absent = 0 AND steps > 0" if by_rank else "false",
        known=f"CASE WHEN steps > 0 THEN {ranks} END" if by_rank else "gaps",
        missing="0" if as_value else "missing", absent="0" if as_value else "missing",
        added=" + CASE WHEN missing > 0 THEN 1 ELSE 0 END" if as_value else "",
        **parts,
    )
    if model.distance is None:
        text = statement("models.by_type", i=i, ordered=text, equal=equal, **parts)
    return [line], text
