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
           "the smallest crowd of a person shown here (ledger_check tells it of all in the ledger) "
           "for who links all releases: against presence those in the same class in each of the "
           "person's releases, against absence those with the same history; at least k",
           public="yes"),
    Metric("rows_withheld", _told("rows_withheld"), "rows",
           "persons who were released before and would have too small a crowd now"),
    Metric("rows_stale", _told("rows_stale"), "rows",
           "persons with other quasi-identifiers than when they were last released; they aren't "
           "shown"),
    Metric("rows_waiting", _told("rows_waiting"), "rows",
           "persons who were never released, and too few for classes of their own"),
    Metric("rows_joining", _told("rows_joining"), "rows",
           "persons who were never released and joined a class that was there"),
    Metric("information_loss_released",
           "100.0 * (measured ->> 'sse_released')::DOUBLE / "
           "nullif((measured ->> 'sst')::DOUBLE, 0)", "percent",
           "100 * sse_released / sst: what the released values lose, which classes that go on have "
           "from the ledger; NULL where the representation is no point; lower is better",
           public="yes"),
)
"""Told of every call with a ledger, and of those that begin one."""
