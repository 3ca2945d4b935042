"""The SQL that verifies a release, and what is said of one that doesn't pass."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.methods import GroupTask
from kanon_sql.names import literal
from kanon_sql.plan.ledger import after_sql, goes_on, of_newcomers, verified_ledger
from kanon_sql.plan.models import combinations, refusals_of_models, released_models
from kanon_sql.plan.parts import (
    parts_too_many_out,
    refusals_of_crossing,
    stages_of_left,
)
from kanon_sql.plan.persons import persons_stages, refusals_of_persons, too_many_out
from kanon_sql.plan.population import covered_stages, refusals_of_population
from kanon_sql.plan.whole import refusals_of_whole
from kanon_sql.privacy import KAnonymity

LOST = (
    "The release was stopped: it has {} rows of {} to be released, {} of them once. Nothing was "
    "released; please report this as a bug."
)
MANY = (
    "The release was stopped: it leaves out {{}} rows, more than {option} = {share} allows. "
    "Nothing was released; please report this as a bug of the method {method}."
)
MANY_PERSONS = (
    "The release was stopped: it leaves out more persons than {option} = {share} allows, with {{}} "
    "rows. Nothing was released; please report this as a bug of the method {method}."
)
ALONE = (
    "A cluster has {} row. Publish it with allow_small=true, or use the method r_cellular, "
    "which promises a class size."
)


def too_small(task: GroupTask) -> tuple[str, str]:
    """The kind of refusal of a class that is too small, and what is said of it, a format with one
    place."""
    if not task.method.promises_k:
        return "DataError", ALONE
    sentence = KAnonymity(task.k).sentence
    return "ReleaseError", sentence.replace("{method}", task.method.name)


def constraints_sql(task: GroupTask) -> str:
    """What refuses a release that breaks k; that it keeps the models, refusals_of_models says."""
    kept, (kind, said) = KAnonymity(task.k), too_small(task)
    return (
        f"        WHEN {kept.broken_sql}\n            THEN __kanon_refuse("
        f"{literal(kind)}, format({literal(said)}, {kept.worst_sql}))\n"
    )


def verify_holes(call: GroupingCall) -> dict[str, object]:
    """What fills the stage __kanon_check of sql/pipeline.sql."""
    option, share = call.task.left_out
    many = MANY_PERSONS if call.task.persons else MANY
    many = many.format(option=option, share=share, method=call.task.method.name)
    # who joins a class is among those who are in it, in no block
    joins = goes_on(call) and of_newcomers(call)
    return {
        "models": (
            stages_of_left(call) + combinations(call) + persons_stages(call)
            + covered_stages(call) + ("" if joins else released_models(call)) + after_sql(call)
        ),
        "constraints": (
            refusals_of_crossing(call) + ("" if joins else constraints_sql(call.task))
            + refusals_of_persons(call, joins) + ("" if joins else refusals_of_models(call))
            + refusals_of_whole(call) + refusals_of_population(call) + verified_ledger(call)
        ),
        "too_many": _too_many(call),
        "lost_error": literal(LOST),
        "out_error": literal(many),
    }


def _too_many(call: GroupingCall) -> str:
    """SQL that says whether more is left out than the call allows."""
    if goes_on(call):
        # beside a ledger, who isn't shown is left out as the promise over all releases demands
        return "false"
    return parts_too_many_out(call) if call.roles.within else too_many_out(call)
