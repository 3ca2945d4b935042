"""The metrics of a release that goes on from a ledger."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric, filled


def _told(fact: str) -> str:
    """SQL of a fact that the grouping beside a ledger reports (see stages/ledger.py)."""
    return filled("(grouped ->> '${fact}')::DOUBLE", fact=fact)


LEDGER = (
    Metric("release", _told("release"), "", "the number of the release in its ledger",
           public="yes"),
    Metric("anonymity_set_min", "(SELECT crowd FROM __kanon_linked)", "persons",
           "smallest anonymity set of a person in this release, for an attacker who links all "
           "releases; at least k. With 'knows_presence', the persons in the same class in each of "
           "the person's releases; with 'knows_absence', those with the same history. ledger_check "
           "reports it for all persons of the ledger",
           public="yes"),
    Metric("rows_withheld", _told("rows_withheld"), "rows",
           "persons who were released before and whose anonymity set would now be too small"),
    Metric("rows_stale", _told("rows_stale"), "rows",
           "persons whose quasi-identifiers changed since they were last released; they are not "
           "released"),
    Metric("rows_waiting", _told("rows_waiting"), "rows",
           "persons who were never released before and are too few for classes of their own"),
    Metric("rows_joining", _told("rows_joining"), "rows",
           "persons who were never released before and joined an existing class"),
    Metric("information_loss_released",
           "100.0 * (measured ->> 'sse_released')::DOUBLE / "
           "nullif((measured ->> 'sst')::DOUBLE, 0)", "percent",
           "100 * sse_released / sst, the loss of the released values, which continued classes "
           "take from the ledger; NULL if the representation is not a point; lower is better",
           public="yes"),
)
"""Told of every call with a ledger, and of those that begin one."""

OF_HEADROOM = (
    Metric("headroom", _told("headroom"), "persons",
           "the number of persons above k that new classes got", public="yes"),
    Metric("churn", _told("churn"), "percent",
           "persons of the ledger who left, or changed their quasi-identifiers, per person and "
           "release in which they could have stayed; for the first release, the assumed 2"),
    Metric("withheld_expected", _told("withheld_expected"), "percent",
           "persons of the smallest new class to be expected withheld in its third release, at "
           "that churn; NULL with 'knows_absence'; lower is better"),
)
"""Told of calls with the headroom 'auto'."""

