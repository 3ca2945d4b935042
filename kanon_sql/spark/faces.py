"""The calls for Spark; what they need is loaded when they are used."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from kanon_sql.errors import OptionError
from kanon_sql.spark.released import SparkRelease, free

MISSING = "PySpark is not installed. Install it by pip install 'kanon-sql[spark]'."


def _refuse_missing() -> None:
    if find_spec("pyspark") is None:
        raise OptionError(MISSING)


def release(df: Any, **options: Any) -> SparkRelease:
    """Releases a DataFrame of Spark; the release with its metrics.

    All rows are measured by the same scales and cut into blocks of rows close to each other; each
    block is grouped by the query that ``kanon_sql.anonymize`` runs, in Spark's Python workers. k
    and the privacy models are verified by Spark over all released rows before they are given out.

    Args:
        df: the DataFrame, of classic Spark or of Spark Connect.
        options: as of ``kanon_sql.anonymize``; quasi_identifiers must be given. block_rows is about
            how many rows a block has. ledger is a DataFrame, or the name of a table or of Parquet
            files, with the entries of all releases before.

    Returns:
        The released rows, kept by Spark, and what was asked and reached; with ledger or headroom
        the entries of its ledger, too.

    Raises:
        OptionError: what can't be asked, or not block by block.
        DataError: what can't be released.
        ReleaseError: the release broke its promise, and was stopped.
    """
    _refuse_missing()
    from kanon_sql.spark.frame_release import release_frame  # here: it loads PySpark

    return release_frame(df, options)


def anonymize(df: Any, **options: Any) -> Any:
    """The released rows of a DataFrame of Spark, as a DataFrame; see ``release``.

    Spark keeps them as they were verified for as long as the DataFrame is used, whatever becomes of
    the table; ``release`` gives a release that can be freed by itself.
    """
    return release(df, **options).data


def anonymize_metrics(df: Any, **options: Any) -> dict[str, Any]:
    """What a release of a DataFrame of Spark reaches, by name; nothing of it is kept."""
    done = release(df, **options)
    done.unpersist()
    return dict(done.metrics)


def anonymize_ledger(df: Any, **options: Any) -> Any:
    """What a release of a DataFrame of Spark adds to its ledger, as a DataFrame: the class of each
    person, and what it published. The same options give the same release, whose rows ``anonymize``
    gives; ``release`` gives both of one run.
    """
    begun = {} if options.get("ledger") is not None else {"headroom": 0}
    done = release(df, **{**begun, **options})
    free(done.kept[0])
    return done.entries


def register(spark: Any, name: str = "anonymize") -> Any:
    """Makes ``anonymize`` callable in the SQL of a Spark session.

    ``SELECT * FROM anonymize(TABLE(patients), k => 5, quasi_identifiers => array('age'))`` is one
    release of the whole table, in one worker; ``within => 'day'`` makes one of the rows of each
    day. The function says itself how Spark must partition the table, so that a PARTITION BY can't
    be forgotten, and one that is written is refused by Spark.

    Args:
        spark: the session.
        name: the name of the function.

    Returns:
        The session.
    """
    _refuse_missing()
    from kanon_sql.spark.udtf import register_function

    return register_function(spark, name)
