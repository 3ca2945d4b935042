"""Tables of Spark: a DataFrame in, a DataFrame out, in blocks of rows that lie close together.

The passes are those of kanon_sql.blocks: what all rows have in common (source) and where they are
cut (blocks) are found by Spark; each block is grouped by the query that ``anonymize`` runs, in the
Python workers (worker); what comes out is counted by Spark again before anyone gets it (verify).
"""

from __future__ import annotations

from kanon_sql.spark.faces import anonymize, anonymize_ledger, anonymize_metrics, register, release

__all__ = ["anonymize", "anonymize_ledger", "anonymize_metrics", "register", "release"]
