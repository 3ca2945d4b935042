"""The functions that DuckDB calls: arguments in, Arrow out. None of them has a connection."""

from __future__ import annotations

from kanon_sql.udfs.audit import AUDIT, AUDITED
from kanon_sql.udfs.centers import CENTERS
from kanon_sql.udfs.clock import CLOCK
from kanon_sql.udfs.group import CLASS_OF, FINISH, START, TAKE, WAIT
from kanon_sql.udfs.hierarchy import TREE
from kanon_sql.udfs.measure import MEASURE
from kanon_sql.udfs.planner import planner
from kanon_sql.udfs.risk import RISK
from kanon_sql.udfs.roles import ROLES
from kanon_sql.udfs.signature import Signature

__all__ = ["FUNCTIONS", "Signature", "planner"]

FUNCTIONS: tuple[Signature, ...] = (
    START, TAKE, WAIT, FINISH, CLASS_OF, CENTERS, MEASURE, TREE, AUDIT, AUDITED, CLOCK, ROLES,
    RISK,
)
