"""The SQL of ledgers: what repeated releases let an attacker link, and how a release goes on from
those before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.choices import POINTS
from kanon_sql.call.ledger import Ledger, refuse_no_ledger
from kanon_sql.call.option_aliases import option_hint
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import Relation
from kanon_sql.errors import OptionError
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.option import LEDGER_CHECK
from kanon_sql.plan.fragments import one_empty_row
from kanon_sql.plan.ledger_refusals import CHANGED, LINKED, REFUSED, UNLIKE
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.models import Checked, checked, stages_of
from kanon_sql.sql import expression, statement
from kanon_sql.version import __version__

COUNTED = {"knows_presence": "crowd", "knows_absence": "persons"}
"""What is at least k of every history, by the attacker: columns of __kanon_crowds."""


def ledger_check_sql(ledger: Relation, options: Mapping[str, Any]) -> str:
    """The SQL of ledger_check().

    Raises:
        OptionError: an option that it doesn't take, or a relation that is known to be no ledger.
    """
    known = {name: option for name, option in OPTIONS.items() if LEDGER_CHECK in option.calls}
    for name in options:
        if name not in known:
            raise OptionError(
                f"{LEDGER_CHECK} has no option {name!r}. {option_hint(name, known)}"
            )
    refuse_no_ledger(ledger, ("release", "entity", "class"))
    k = options.get("k")
    return statement(
        "ledger.check",
        unshadowed=unshadowed_sql(),
        relation=ledger.sql,
        crowds=_crowds("", "__kanon_exposed"),
        k="NULL" if k is None else known["k"].read(k),
    )


def ledger_json(call: GroupingCall) -> dict[str, Any] | None:
    """What the grouping is told; None where it doesn't go on from anything."""
    if call.ledger is None:
        return None
    ledger = call.ledger
    settings: dict[str, Any] = {
        "attacker": ledger.attacker, "headroom": ledger.headroom, "joined": joined(call),
    }
    return settings if ledger.largest is None else {**settings, "largest": ledger.largest}


def goes_on(call: GroupingCall) -> bool:
    """Whether a call goes on from earlier releases."""
    return call.ledger is not None and call.ledger.relation is not None


def of_newcomers(call: GroupingCall) -> bool:
    """Whether the rows are a block of those who were never released: what holds over all releases
    is decided, and verified, over all rows."""
    return call.ledger is not None and call.ledger.largest is not None


def _points(call: GroupingCall) -> set[bool]:
    """Of the quasi-identifiers whether classes publish points in their place."""
    release, trees = call.release, {caseless(spec.column) for spec in call.hierarchies}
    return {
        release.of(name, has_hierarchy=caseless(name) in trees) in POINTS
        for name in call.roles.quasi_identifiers
    }


def publishes_points(call: GroupingCall) -> bool:
    """Whether classes publish nothing but points, of which everyone is somewhere near."""
    return _points(call) == {True}


def joined(call: GroupingCall) -> str | None:
    """Which classes newcomers may join: the nearest, where all publish 'points', those that cover
    them, where all publish 'sets'; None where these are mixed, and nothing tells what costs
    least."""
    kinds = _points(call)
    return None if len(kinds) > 1 else "points" if kinds == {True} else "sets"


def _names(call: GroupingCall) -> list[str]:
    """The quasi-identifiers in an order that doesn't depend on how the call writes them."""
    return sorted(call.roles.quasi_identifiers, key=caseless)


def published_sql(call: GroupingCall) -> str:
    """What a class releases, as one STRUCT, over a stage with its columns."""
    fields = ", ".join(f"{literal(caseless(name))}: {quoted(name)}" for name in _names(call))
    return f"{{{fields}}}"


def _shown(call: GroupingCall) -> str:
    """In which form classes publish, as text; of two releases of a ledger it is the same."""
    kept = ("representation", "hierarchies", "categorical", "nulls")
    return _text({name: _of_columns(call.used[name]) for name in kept})


def _of_columns(value: Any) -> Any:
    """What is given for columns, however their names are written and in whatever order."""
    if isinstance(value, Mapping):
        return {caseless(name): given for name, given in value.items()}
    return sorted(map(caseless, value)) if isinstance(value, (list, tuple)) else value


def _asked_models(call: GroupingCall) -> str:
    """The privacy models of a call, as text, however their columns are written and in whatever
    order."""
    models = [each.as_json() for each in call.task.models]
    for model in models:
        if "column" in model:
            model["column"] = caseless(model["column"])
    return _text(sorted(models, key=_text))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def crowds_sql(which: str, exposed: str) -> str:
    """The stages that count crowds over a stage of exposures; ``which``: what they are told by."""
    return _crowds(f"_{which}", exposed)


def _crowds(s: str, exposed: str) -> str:
    histories = statement("ledger.histories", s=s, exposed=exposed)
    return f"{histories},\n{statement('ledger.crowds', s=s)}"


def crowds_of_histories(which: str, histories: str) -> str:
    """The same over histories that were counted already; ``histories``: their stage."""
    return f"{histories},\n{statement('ledger.crowds', s=f'_{which}')}"


def _headroom(ledger: Ledger) -> str:
    """The headroom that is asked for, as SQL."""
    given = ledger.headroom
    return str(given) if isinstance(given, int) else literal(given)


def asked_sql(call: GroupingCall, ledger: Ledger) -> str:
    """What is asked of a release, as its ledger keeps it: SQL over __kanon_columns."""
    return statement(
        "ledger.asked",
        k=call.task.k,
        attacker=literal(ledger.attacker),
        headroom=_headroom(ledger),
        method=literal(call.task.method.name),
        version=literal(__version__),
        shown=literal(_shown(call)),
        models=literal(_asked_models(call)),
    )


def relation_sql(ledger: Ledger) -> str:
    """A ledger as it stands in FROM; one without rows before the first release."""
    if ledger.relation is not None:
        return ledger.relation.sql
    return expression("ledger.none", entity=quoted(ledger.entity))


def read_sql(ledger: str) -> str:
    """The rows of a ledger as all that follows reads them, of SQL of the ledger."""
    return statement("ledger.read", ledger=ledger)


def source_sql(call: GroupingCall) -> str:
    """A digest of what may identify the person of a row, as SQL over it."""
    keys = ", ".join(f"__kanon_key({quoted(name)})" for name in _names(call))
    return expression("ledger.source", keys=keys)


def numbered_sql(call: GroupingCall, ledger: Ledger) -> str:
    """The stages that number a release, and say what is asked of it, over __kanon_releases."""
    return statement("ledger.numbered", asked=asked_sql(call, ledger))


def faults_sql(ledger: Ledger) -> str:
    """The stages that say what is wrong with a ledger, or with its persons."""
    return statement(
        "ledger.faults", entity=quoted(ledger.entity), counted=COUNTED[ledger.attacker],
        one_source=one_empty_row("__kanon_source"),
    )


def before_sql(call: GroupingCall) -> str:
    """The stages that read the ledger; nothing without one."""
    ledger = call.ledger
    if ledger is None:
        return ""
    if of_newcomers(call):
        if ledger.relation is None:
            return ""
        going_on = statement("ledger.going_on", classes=ledger.relation.sql)
        return f"{going_on}\n{statement('ledger.published')}\n"
    entity, relation = quoted(ledger.entity), relation_sql(ledger)
    stages = "\n".join((
        statement(
            "ledger.stages", read=read_sql(relation), entity=entity, source=source_sql(call)
        ),
        statement("ledger.releases"),
        numbered_sql(call, ledger),
        statement("ledger.past"),
        crowds_sql("before", "__kanon_ledger") + ",",
        faults_sql(ledger),
    ))
    if ledger.relation is not None:
        stages += "\n" + statement("ledger.published")
    return stages + "\n"


def after_sql(call: GroupingCall) -> str:
    """The stages that say what can be linked once the release is out."""
    if call.ledger is None or of_newcomers(call):
        return ""
    return statement(
        "ledger.after", crowds=crowds_sql("after", "__kanon_exposed"),
        counted=COUNTED[call.ledger.attacker],
    ) + "\n" + models_of_crowds(call)


def models_of_crowds(call: GroupingCall) -> str:
    """The stages that say whether all crowds keep the models; nothing without a model, and where
    crowds are classes."""
    if not (call.task.models and goes_on(call)):
        return ""
    assert call.ledger is not None
    columns = call.task.sensitive
    absence = call.ledger.attacker == "knows_absence"
    stages = [statement(
        "ledger.members",
        equal=" AND any_value(theirs.length) = any_value(mine.length)" if absence else "",
    )]
    for i, column in enumerate(columns):
        stages.append(statement("ledger.histogram", i=i, column=quoted(column)))
    places = [
        Checked(each.model, f"{each.i}_crowds", f"{each.j}_crowds")
        for each in checked(call.task.models, columns)
    ]
    stages += [stage.rstrip("\n") for stage in stages_of(places)]
    broken = "\n        UNION ALL\n        ".join(
        statement("ledger.broken", stage=each.stage) for each in places
    )
    stages.append(statement("ledger.models", models=broken))
    return "".join(f"{stage}\n" for stage in stages)


def tables_of_ledger(call: GroupingCall) -> list[str]:
    """What the grouping is told of the ledger, as entries of the tables beside the relation."""
    if not goes_on(call) or of_newcomers(call):
        return []
    known = expression("ledger.known", seed=literal(str(call.task.seed)))
    frozen = expression(
        "ledger.frozen", one_published=one_empty_row("__kanon_published_before")
    )
    names = "['row', 'history', 'stale', 'lot']"
    return [f"{{'name': 'ledger', 'names': {names}, 'rows': {known}}}", frozen]


def centers_of_ledger(call: GroupingCall) -> str:
    """What the classes publish, as a stage of points."""
    without = "EXCLUDE (class_id) " if call.release.class_id else ""
    return expression("ledger.centers", without=without)


def classes_after(call: GroupingCall, classes: str) -> str:
    """What each class releases, of those that go on what they released before."""
    if not goes_on(call):
        return classes
    # those that are none in this call are refused before, and may be the name of one that passes
    known = ", ".join(literal(caseless(name)) for name in ("__kanon_class", *_names(call)))
    return statement("ledger.classes", classes=classes, quasi=f"[{known}]")


def refusals_of_ledger(call: GroupingCall) -> str:
    """What refuses a ledger or its persons, one WHEN for each; nothing without one."""
    ledger = call.ledger
    if ledger is None or of_newcomers(call):
        return ""
    holes = _holes(call, ledger)
    chosen = REFUSED if ledger.relation is not None else REFUSED[:1]
    return "".join(
        f"        WHEN (SELECT {condition.format(**holes)} FROM __kanon_faults)\n"
        f"            THEN __kanon_refuse({literal(kind)}, {literal(said.format(**holes))})\n"
        for condition, kind, said in chosen
    )


def _holes(call: GroupingCall, ledger: Ledger) -> dict[str, str]:
    named = "" if ledger.relation is None else ".".join(ledger.relation.parts)
    return {
        "entity": repr(ledger.entity), "ledger": repr(named), "k": str(call.task.k),
        "attacker": literal(ledger.attacker), "attacker_told": repr(ledger.attacker),
    }


def verified_ledger(call: GroupingCall) -> str:
    """What refuses a release that breaks the promise over all releases, one WHEN for each."""
    ledger = call.ledger
    if ledger is None or of_newcomers(call):
        return ""
    holes = _holes(call, ledger)
    k = call.task.k
    said = literal(LINKED.format("{}", "k", k))
    checks = [(f"crowd < {k}", f"format({said}, crowd)")]
    least = "(SELECT coalesce(least, 1) FROM __kanon_stored)"
    said = literal(LINKED.format("{}", "the ledger's k", "{}"))
    checks.append((f"all_crowds < {least}", f"format({said}, all_crowds, {least})"))
    text = "".join(
        f"        WHEN (SELECT {broken} FROM __kanon_linked)\n            THEN __kanon_refuse("
        f"'ReleaseError', (SELECT {sentence} FROM __kanon_linked))\n"
        for broken, sentence in checks
    )
    if call.task.models and goes_on(call):
        text += (
            "        WHEN (SELECT coalesce(broken, 1) > 0 FROM __kanon_models_of_crowds)\n"
            f"            THEN __kanon_refuse('ReleaseError', {literal(UNLIKE)})\n"
        )
    if ledger.relation is not None:
        now = one_empty_row("__kanon_classes")
        text += (
            f"        WHEN (SELECT typeof({published_sql(call)}) FROM {now})\n"
            "             <> (SELECT min(typeof(published)) FROM __kanon_frozen)\n"
            "            THEN __kanon_refuse('DataError', "
            f"{literal(CHANGED.format(holes['ledger']))})\n"
        )
    return text


def ledger_sql(call: GroupingCall, pipeline: str) -> str:
    """The SQL of anonymize_ledger(), around the stages of the release."""
    assert call.ledger is not None
    return statement(
        "ledger.call", pipeline=pipeline, entity=quoted(call.ledger.entity),
        published=published_sql(call), seed=call.task.seed,
    )
