"""What is mutated, and which tests must see it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.mutants.edits import Edit, Mutant, mutant
from tests.mutants.python_edits import function_at, python_edits
from tests.mutants.sql_edits import sql_edits

ROOT = Path(__file__).parents[2]
NAME = "-- name: "


@dataclass(frozen=True)
class Target:
    """Files that are mutated, and the tests in the folders that belong to them.

    Attributes:
        sources: the files, below the root of the repository; a * stands for any name. Behind a
            colon, a pattern of the places that are meant.
        tests: files of tests, below tests/. What only compares the SQL with a recorded one is none
            of them: it kills every mutant, and proves nothing.
        sampled: whether a sample is enough, as of code that the verify stage watches.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    sampled: bool = False


TARGETS: dict[str, Target] = {
    "verify": Target(
        ("sql/pipeline.sql:__kanon_(labels|labelled|numbers|counts|sizes|check)$",
         "kanon_sql/plan/verify.py"),
        ("release/test_check_rows.py", "release/test_check_ledger.py",
         "release/test_check_persons.py", "release/test_fail_closed.py"),
    ),
    "models": Target(
        ("sql/models.sql", "kanon_sql/plan/models.py"),
        ("release/test_models_sql.py", "release/test_models_in_parts.py",
         "release/test_check_models.py", "release/test_check_persons.py",
         "release/test_check_parts.py", "release/test_check_whole.py"),
    ),
    "persons": Target(
        ("sql/persons.sql:__kanon_(whose|crowds|persons|sizes)$|refused|out|row_out",
         "kanon_sql/plan/persons.py"),
        ("release/test_check_persons.py", "release/test_persons_checked.py",
         "release/test_persons_measured.py"),
    ),
    "parts": Target(
        ("sql/parts.sql", "kanon_sql/plan/parts.py"),
        ("release/test_check_parts.py", "release/test_parts_measured.py"),
    ),
    "whole": Target(
        ("sql/whole.sql", "sql/population.sql", "kanon_sql/plan/whole.py",
         "kanon_sql/plan/population.py"),
        ("release/test_check_whole.py", "release/test_average_risk.py", "release/test_k_map.py"),
    ),
    "ledger": Target(
        ("sql/ledger.sql", "kanon_sql/plan/ledger.py"),
        ("ledger/test_ledger_check.py", "release/test_check_ledger.py",
         "release/test_ledger_refusals.py", "release/test_ledger.py",
         "files/test_ledger_refusals.py"),
    ),
    "manifest": Target(
        ("kanon_sql/api/verify.py", "kanon_sql/api/verification.py", "kanon_sql/plan/manifest.py",
         "sql/manifest.sql:digest|row_digests|class_sizes|fingerprint"),
        ("api/test_forgeries.py", "api/test_verify.py", "api/test_verify_each_check.py",
         "api/test_hive_folders.py", "release/test_manifest.py"),
    ),
    "audit_macros": Target(
        ("sql/audit_macros.sql", "kanon_sql/plan/audit_macros.py"),
        ("audit_macros/test_verify.py", "audit_macros/test_calls.py"),
    ),
    "roles": Target(
        ("kanon_sql/call/roles.py", "kanon_sql/call/role_table.py",
         "kanon_sql/call/declarations.py"),
        ("call/test_roles.py", "call/test_roles_of_views.py", "call/test_role_table.py",
         "api/test_catalog.py"),
    ),
    "privacy": Target(
        ("kanon_sql/privacy/*.py",),
        ("privacy/test_kernels_in_python.py", "privacy/test_what_models_say.py",
         "privacy/test_least_within.py",
         "privacy/test_violation.py", "privacy/test_least_class.py", "privacy/test_rational.py",
         "privacy/test_union.py", "privacy/test_papers.py", "privacy/test_average_risk.py",
         "privacy/test_feasible.py", "privacy/test_all_small_tables.py",
         "call/test_models.py", "release/test_models_sql.py",
         "release/test_models_in_parts.py", "release/test_check_models.py",
         "measure/test_guarantees.py", "release/test_check_rows.py", "release/test_check_whole.py",
         "release/test_persons_checked.py"),
    ),
    "generalize": Target(
        ("kanon_sql/plan/generalize.py", "sql/generalize.sql", "sql/macros/represent.sql"),
        ("plan/test_by_column.py", "measure/test_released.py", "release/test_macros_of_values.py",
         "release/test_representations.py", "release/test_precision.py",
         "release/test_rounded.py", "release/test_weighted_centroids.py"),
        sampled=True,
    ),
    "encode": Target(
        ("kanon_sql/encode/*.py",),
        ("encode/test_area_graph.py", "encode/test_arrow.py", "encode/test_attributes.py",
         "encode/test_cells.py", "encode/test_coordinates.py", "encode/test_delaunay.py",
         "encode/test_encoded.py", "encode/test_identifier_detection.py",
         "encode/test_keys_of_persons.py", "encode/test_looks.py", "encode/test_metric_space.py",
         "encode/test_order.py", "encode/test_persons.py", "encode/test_points_of_rows.py",
         "encode/test_population.py", "encode/test_repeated.py", "encode/test_row_buffer.py",
         "encode/test_rows_in_pieces.py", "encode/test_scales.py", "encode/test_secrets.py",
         "encode/test_sensitive.py", "encode/test_single_attribute.py",
         "encode/test_steps_of_values.py"),
        sampled=True,
    ),
    "group": Target(
        ("kanon_sql/group/*.py",),
        # not test_ahead.py and test_warm_up.py: the processes that they start are no mutants
        ("group/test_begun_classes.py", "group/test_block_cuts.py", "group/test_blocks.py",
         "group/test_compiled.py",
         "group/test_enforce.py", "group/test_enforced_classes.py",
         "group/test_enforced_search.py", "group/test_merged.py",
         "group/test_people.py", "group/test_rehearsal.py", "group/test_run.py",
         "group/test_seams.py", "group/test_small_tables.py", "group/test_whole.py"),
        sampled=True,
    ),
}


def mutants_of(target: Target, root: Path = ROOT) -> Iterator[Mutant]:
    """All mutants of a target."""
    for source in target.sources:
        pattern, _, place = source.partition(":")
        for file in sorted(root.glob(pattern)):
            path = file.relative_to(root).as_posix()
            text = file.read_text(encoding="utf-8")
            found = of_sql(path, text) if file.suffix == ".sql" else of_python(path, text)
            yield from (each for each in found if re.search(place, each.place))


def of_python(path: str, text: str) -> Iterator[Mutant]:
    """The mutants of a module."""
    tree = ast.parse(text)
    for edit in python_edits(text):
        line = text.count("\n", 0, edit.start) + 1
        function = function_at(tree, line)
        yield mutant(path, text, edit, function[2] if function else "")


def of_sql(path: str, text: str) -> Iterator[Mutant]:
    """The mutants of a file of named blocks; the place is that of the block and the stage."""
    block = stage = ""
    start = 0
    for line in [*text.splitlines(keepends=True), NAME]:
        end = start + len(line)
        if line.startswith(NAME):
            begun, body = end, line.removeprefix(NAME).strip()
            block, stage = body, ""
            following = text.find(f"\n{NAME}", begun)
            content = text[begun : following if following >= 0 else len(text)]
            for edit in sql_edits(content):
                stages = re.findall(
                    r"^(?:\$\{\w+\})*(__kanon_\w+?)(?:_?\$\{\w+\})? AS\b",
                    content[: edit.start + 1], re.MULTILINE,
                )
                stage = f" {stages[-1]}" if stages else ""
                moved = Edit(edit.start + begun, edit.end + begun, edit.text, edit.operator)
                yield mutant(path, text, moved, block + stage)
        start = end


def function_of(mutant: Mutant, source: str) -> tuple[str, int] | None:
    """Name and first line of the function that a mutant of Python is in."""
    found = function_at(_parsed(source), source.count("\n", 0, mutant.edit.start) + 1)
    return found[:2] if found else None


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)
