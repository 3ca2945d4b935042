"""The SQL that verifies a release, and what is said of one that doesn't pass."""

from __future__ import annotations

from kanon_sql.call.call import TAKEN, GroupingCall
from kanon_sql.call.relation import literal
from kanon_sql.methods import GroupTask
from kanon_sql.plan.fragments import UNDECLARED, declared

SMALL = (
    "The release was stopped: a class of released values has {{}} rows, fewer than k = {k}. "
    "Nothing came out; please report this as a bug of the method {method}."
)
LOST = (
    "The release was stopped: it has {} rows of {} to be released, {} of them once. Nothing came "
    "out; please report this as a bug."
)
MANY = (
    "The release was stopped: it leaves out {{}} rows, more than {option} = {share} allows. "
    "Nothing came out; please report this as a bug of the method {method}."
)
ALONE = (
    "A cluster has {} row. Publish it with allow_small := true, or use the method r_cellular, "
    "which promises a class size."
)


def too_small(task: GroupTask) -> str:
    """What is said of a class that is too small, a format with one place."""
    if not task.method.promises_k:
        return ALONE
    return SMALL.format(k=task.k, method=task.method.name)


def verify_holes(call: GroupingCall) -> dict[str, object]:
    """What fills the stage _check of sql/stages/pipeline.sql."""
    option, share = call.task.left_out
    many = MANY.format(option=option, share=share, method=call.task.method.name)
    return {
        "k": call.task.k,
        "suppressed": share,
        "reserved": "".join(f" OR lower(name) = '{name}'" for name in call.release.added),
        "taken_error": literal(TAKEN),
        "declared": declared(call.source),
        "declared_error": literal(UNDECLARED.format(relation=call.source.sql)),
        "small_error": literal(too_small(call.task)),
        "lost_error": literal(LOST),
        "out_error": literal(many),
    }
