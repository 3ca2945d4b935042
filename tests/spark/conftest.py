from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def started() -> Any:
    """A session whose workers find the checkout that is tested."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    here = os.environ.get("PYTHONPATH")
    root = str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = root if here is None else f"{root}{os.pathsep}{here}"
    builder = SparkSession.builder.master("local[2]").appName("kanon_sql tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark with two workers on this machine."""
    pytest.importorskip("pyspark.sql", reason="PySpark isn't installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java isn't installed, which Spark runs on")
    here = os.environ.get("PYTHONPATH")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas 3, which isn't used
        session = started()
        yield session
        session.stop()
    if here is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = here
