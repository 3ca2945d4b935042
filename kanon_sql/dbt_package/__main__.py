"""``python -m kanon_sql.dbt_package FOLDER`` puts the dbt package there, for packages.yml."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kanon_sql.dbt_package import copy_package
from kanon_sql.errors import KanonError


def main(arguments: list[str] | None = None) -> int:
    """Copies the dbt package; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m kanon_sql.dbt_package",
        description="Puts the dbt package of kanon_sql into a folder of your dbt project, to be "
        "named in packages.yml as `- local: FOLDER`. Where it is already there, it is renewed.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    try:
        print(copy_package(parser.parse_args(arguments).folder))
    except KanonError as refusal:
        print(refusal, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
