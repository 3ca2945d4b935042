"""The SQL of privacy models: for each combination of released values whether it keeps them, and
what it has on the scale of each threshold. Whole numbers where the threshold is a fraction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import seen
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.privacy import PrivacyModel
from kanon_sql.privacy.check import Place
from kanon_sql.sql import expression, statement


@dataclass(frozen=True)
class Checked:
    """A model, and the places of its stages.

    Attributes:
        model: the model.
        i: of its column among those that are looked at.
        j: its own.
        in_parts: whether each part is held against its own rows, not against those of all.
        in_block: whether the rows are a block of many, and the values of all are known.
        only_worst: whether nobody asks which combinations pass, only what the worst has.
    """

    model: PrivacyModel
    i: int | str
    j: int | str
    in_parts: bool = False
    in_block: bool = False
    only_worst: bool = False

    @property
    def stage(self) -> str:
        """The stage that has a row for each combination: its size, whether it passes, what it
        has."""
        return f"__kanon_model_{self.j}"

    @property
    def worst(self) -> str:
        """The aggregate that gives what the worst combination has; qualified, so that it is one
        whatever macros there are, and gives one row."""
        return f"system.main.{'min' if self.model.more_is_better else 'max'}(has)"


def checked(
    models: Iterable[PrivacyModel], columns: Sequence[str], in_parts: bool = False,
    domains: Collection[str] = (),
) -> list[Checked]:
    """The models with their places.

    Args:
        models: each has its own.
        columns: those that are looked at.
        in_parts: as in Checked.
        domains: the columns, in lower case, of which the values of all rows are known.
    """
    spots = {caseless(column): i for i, column in enumerate(columns)}
    return [
        Checked(
            model, spots[caseless(model.column)], j, in_parts, caseless(model.column) in domains
        ) for j, model in enumerate(models)
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


def _histogram_stage(
    i: int | str, histogram: str, in_parts: bool, domain: Relation | None = None,
    looks: str | None = None,
) -> str:
    """The stages of what models look at, of one column; ``domain``: the values of all rows, where
    these are a block of them; ``looks``: as in model_stages."""
    if domain is None:
        values = statement(
            "models.domain", histogram=looks or f"__kanon_histogram_{i}", **of_part(in_parts)
        )
    else:
        values = f"SELECT label, many, number, place FROM {domain.sql}"
    placed = f"__kanon_histogram_{i}.part, " if in_parts else ""
    alike = f"\n        AND __kanon_histogram_{i}.part = __kanon_domain_{i}.part"
    return statement(
        "models.histogram", i=i, histogram=histogram, placed=placed, domain=values,
        alike=alike if in_parts else "", **of_part(in_parts),
    )


def model_stages(
    models: Sequence[Checked], columns: Sequence[str], histogram: Callable[[int, str], str],
    trees: Mapping[str, int] | None = None, in_parts: bool = False,
    domains: Mapping[str, Relation] | None = None,
    looks: Callable[[int], str | None] = lambda i: None,
) -> str:
    """The stages of the models and of what they look at.

    Args:
        models: each becomes a stage.
        columns: the sensitive columns.
        histogram: SQL of combination, label, sorted, number and size, of a column by its place
            and its name in quotes.
        trees: the numbers of the hierarchies of columns in lower case.
        in_parts: as in Checked; the histograms tell the part, too.
        domains: the values of all rows, where these are a block of them, by columns in lower case.
        looks: of a column by its place, SQL of label, sorted, number and size of all rows, where
            the histogram doesn't tell sorted and number.
    """
    trees, domains, stages = trees or {}, domains or {}, []
    for i, column in enumerate(columns):
        stages.append(_histogram_stage(
            i, histogram(i, quoted(column)), in_parts, domains.get(caseless(column)), looks(i)
        ))
        if caseless(column) in trees:
            stages.append(statement("models.paths", i=i, tree=trees[caseless(column)]))
            nodes = statement("models.histogram_of_nodes", i=i, **of_part(in_parts))
            stages.append(_histogram_stage(f"{i}_nodes", nodes, in_parts))
    stages += stages_of(models, trees)
    return "".join(f"{stage}\n" for stage in stages)


def domain_sql(histogram: str) -> str:
    """SQL of the values of all rows in their order, over what counts them."""
    return statement(
        "blocks.values", domain=statement("models.domain", histogram=histogram, **of_part(False))
    )


def stages_of(models: Iterable[Checked], trees: Collection[str] = ()) -> list[str]:
    """The stages of models, after those that they share.

    Args:
        models: each becomes a stage.
        trees: the columns with a hierarchy, in lower case.
    """
    before: dict[str, None] = {}
    held: dict[int | str, list[str]] = {}
    own: list[str] = []
    parts: dict[str, str] = {}
    for each in models:
        parts = of_part(each.in_parts)
        has_tree = caseless(each.model.column) in trees
        check = each.model.check(
            Place(each.i, each.j, has_tree, parts, each.in_block, each.only_worst)
        )
        before |= dict.fromkeys(check.before)
        if check.held:
            held.setdefault(each.i, []).append(check.held)
        kept = "NOT MATERIALIZED" if each.only_worst else "MATERIALIZED"
        own.append(f"{each.stage} AS {kept} (\n    {check.text}\n),")
    together = [
        statement("models.held", i=i, aggregates=",\n           ".join(aggregates), **parts)
        for i, aggregates in held.items()
    ]
    return [*before, *together, *own]


def secret_trees(call: GroupingCall) -> Hierarchies:
    """The stages of the hierarchies of sensitive columns; their numbers follow those of the
    others."""
    return Hierarchies(
        call.of_sensitive, call.show_values, "__kanon_kept", first=len(call.hierarchies) + 1,
        domains=call.domains,
    )


def released_models(call: GroupingCall) -> str:
    """The stages up to __kanon_models, of what is released; nothing without a model."""
    models = call.task.models
    if not models:
        return ""
    columns = call.task.sensitive
    in_parts = bool(call.roles.within)
    places = checked(models, columns, in_parts, call.domains)
    stages = model_stages(
        places, columns, lambda i, column: _histogram(call, column),
        {caseless(name): number for number, name in secret_trees(call).numbered()}, in_parts,
        call.domains,
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
    if not call.task.models and call.roles.entity is None and call.population is None:
        return ""
    columns = "COLUMNS(* EXCLUDE (__kanon_class))"
    return statement("models.combinations", seen=seen(columns)) + "\n"


def refusals_of_models(call: GroupingCall) -> str:
    """What refuses a release that misses a model, one WHEN for each."""
    return "".join(
        "        WHEN " + expression(
            "models.refused", j=j,
            said=literal(
                f" of its classes don't keep {model.in_words}. Nothing was released; please report "
                f"this as a bug of the method {call.task.method.name}."
            ),
        ) + "\n"
        for j, model in enumerate(call.task.models)
    )
