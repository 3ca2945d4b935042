"""The dbt package: generic tests, roles from meta, and releases with a ledger."""

from __future__ import annotations

import shutil
from pathlib import Path

from kanon_sql.errors import OptionError

PROJECT = "dbt_project.yml"


def copy_package(folder: Path) -> str:
    """Copies the package into a folder, or renews it there; a sentence of what to do next.

    Raises:
        OptionError: something else is there.
    """
    source = Path(__file__).parent
    own = (source / PROJECT).read_text(encoding="utf-8")
    if folder.exists():
        existing = folder / PROJECT
        if not folder.is_dir() or (any(folder.iterdir()) and not (
            existing.is_file() and "\nname: kanon_sql\n" in existing.read_text(encoding="utf-8")
        )):
            raise OptionError(
                f"{folder} is already there, and is not the dbt package of kanon_sql. Name a new "
                "folder."
            )
        if (folder / "macros").is_dir():
            shutil.rmtree(folder / "macros")
    (folder / "macros").mkdir(parents=True)
    (folder / PROJECT).write_text(own, encoding="utf-8")
    for path in sorted((source / "macros").glob("*.sql")):
        (folder / "macros" / path.name).write_text(
            path.read_text(encoding="utf-8"), encoding="utf-8"
        )
    return f"{folder} holds the package. Name it in packages.yml, as `- local: {folder}`."
