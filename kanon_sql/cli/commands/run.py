"""``kanon run kanon.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from kanon_sql.api.dataframe import release as write_release
from kanon_sql.api.private import is_json
from kanon_sql.call.relation import is_url
from kanon_sql.cli import inputs
from kanon_sql.cli.config import BY_ROLE, Config, ReleaseJob, inside
from kanon_sql.cli.dry import dry, print_dry
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import InputSource, opened, split_inside, writes_to
from kanon_sql.cli.targets import STDOUT, parts_of, read_target
from kanon_sql.cli.work import (
    columns_of,
    files_sentence,
    into_folder,
    release,
    sentence,
    summary,
    timed,
)
from kanon_sql.errors import KanonError, OptionError, did_you_mean
from kanon_sql.names import caseless

NO_FOLDER = (
    "ledger_to belongs to a folder of files that is written in blocks, and the output {!r} is not "
    "one. Leave it out."
)


@click.command(cls=Grouped, epilog="Paths are those from the folder of the file. "
               "Exit status: 0 done, 2 usage, 3 refused, 4 data, 130 interrupted.")
@click.argument("config", metavar="[FILE]", default="kanon.toml", type=click.Path())
@click.argument("names", metavar="[TABLE]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Shows roles, memory and SQL, and writes nothing.")
@click.option("--overwrite", is_flag=True, help="Replaces folders of earlier releases; in "
              "partitioned ones, only the partitions that are written.")
@click.option("--schema", is_flag=True, help="Prints the JSON schema of the file, for editors.")
@inputs.as_json
def run(
    config: str, names: tuple[str, ...], dry_run: bool, overwrite: bool, schema: bool, as_json: bool
) -> None:
    """Makes the releases that a file kanon.toml describes, or those of them that are named.

    They are made one after the other; at the first that is refused it ends, and those before it
    stay.
    """
    if schema:
        from kanon_sql.cli.schema import shipped

        print(shipped(), end="")
        return
    read = Config(Path(config))
    known = {job.name: job for job in read.jobs}
    for name in names:
        if name not in known:
            raise OptionError(f"{config} has no table {name!r}. {did_you_mean(name, known)}")
    results = []
    with inside(Path(config).resolve().parent):
        jobs = [known[name] for name in dict.fromkeys(names)] or list(read.jobs)
        _refuse_shared(read, jobs, overwrite)
        for job in jobs:
            try:
                results.append(make_release(read, job, dry_run, overwrite, as_json))
            except KanonError as refusal:
                raise read.located(job, refusal) from None
    if as_json:
        print(json_text(results))


def _refuse_shared(config: Config, jobs: Sequence[ReleaseJob], overwrite: bool) -> None:
    """Raises OptionError where one release would be written over another, or into its folder; into
    other partitions of one folder it may be."""
    taken: list[tuple[Path, str, ReleaseJob]] = []
    for job in jobs:
        places = _places(job)
        for key, text, place in places:
            for other, theirs, first in taken:
                if place == other and not (overwrite and _parted_alike(job, first)):
                    said = f"The table {first.name!r} writes {theirs!r}, too."
                elif other in place.parents or place in other.parents:
                    said = (
                        f"{text!r} and {theirs!r}, which the table {first.name!r} writes, are one "
                        "inside the other."
                    )
                else:
                    continue
                config.refuse(("tables", job.name, key), f"{said} Name another place.")
        taken += [(place, text, job) for _, text, place in places]


def _parted_alike(job: ReleaseJob, other: ReleaseJob) -> bool:
    """Whether both write folders of partitions by the same columns."""
    by, theirs = ([*map(caseless, each.partition_by)] for each in (job, other))
    return bool(by) and by == theirs


def _places(job: ReleaseJob) -> list[tuple[str, str, Path]]:
    """What a release writes over: the key, what stands there, and where that is. A table that gets
    private parts only gains rows."""
    written = {"output": job.output, "ledger_to": job.ledger_to}
    if job.private is not None and is_json(job.private):
        written["private"] = job.private
    return [
        (key, text, _place(text)) for key, text in written.items()
        if text is not None and text != STDOUT and not is_url(text)
    ]


def _place(text: str) -> Path:
    """Where a word leads; to a table as if it lay in the DuckDB file."""
    path, table = split_inside(text)
    place = Path(path).resolve()
    return place if table is None else place.joinpath(*map(caseless, parts_of(table)))


def make_release(
    config: Config, job: ReleaseJob, dry_run: bool, overwrite: bool, as_json: bool
) -> dict[str, Any]:
    """Makes one release of a file, and tells of it."""
    writes = writes_to(job.input, job.database, job.output) or "ledger" in job.options
    with opened(job.input, job.database, writes=writes) as read:
        chosen = options_of_job(config, job, read)
        if dry_run:
            result = dry(read, chosen)
            if not as_json:
                print(f"-- {job.name}: {', '.join(job.input)} to {job.output}")
                print_dry(result)
            return {"table": job.name, **result}
        with timed() as seconds:
            result = _release(job, read, chosen, overwrite)
    if not as_json:
        note(f"{job.name}: {result.pop('said', None) or sentence(result, job.output, seconds[0])}")
    result.pop("said", None)
    return {"table": job.name, "output": job.output, "metrics": result, "seconds": seconds[0]}


def _release(
    job: ReleaseJob, read: InputSource, chosen: dict[str, Any], overwrite: bool
) -> dict[str, Any]:
    """Makes one, and tells of it."""
    entries = job.ledger_to
    place = read_target(
        job.output, job.format, job.partition_by, in_blocks=entries is not None,
        overwrite=overwrite,
    )
    in_blocks = place.kind == "folder" and not place.by and not job.manifest
    if entries is not None and not in_blocks:
        raise OptionError(NO_FOLDER.format(job.output))
    if job.manifest:
        done = write_release(read.con, read.data, to=job.output, private=job.private, **chosen)
        return dict(done.manifest["metrics"])
    if in_blocks:
        files = into_folder(read, chosen, place, overwrite=overwrite, ledger_to=entries)
        return {**files.metrics, "said": files_sentence(files)}
    release(read, chosen, place)
    return summary(read, chosen)


def options_of_job(config: Config, job: ReleaseJob, read: InputSource) -> dict[str, Any]:
    """All options of a release, the roles among them."""
    return {**job.options, **_roles(config, job, read)}


def _roles(config: Config, job: ReleaseJob, read: InputSource) -> dict[str, Any]:
    """The roles by column as options; as a relation where one of them is no option of its own, such
    as that of a column that passes unchanged and isn't sensitive."""
    place = ("tables", job.name, "roles")
    if not job.roles:
        return {}
    columns = columns_of(read)
    for column in job.roles:
        if columns and caseless(column) not in map(caseless, columns):
            config.refuse(
                (*place, column),
                f"The column {column!r} doesn't exist. {did_you_mean(column, columns)}",
            )
    if {"other", "within"} & set(job.roles.values()):
        return {"roles": pa.table({
            "column_name": list(job.roles), "role": list(job.roles.values())
        })}
    whose = [column for column, role in job.roles.items() if role == "entity"]
    if len(whose) > 1:
        config.refuse((*place, whose[1]), "There can be one entity. Give this column another role.")
    options: dict[str, Any] = {
        option: [column for column, assigned in job.roles.items() if assigned == role]
        for role, option in BY_ROLE.items()
    }
    return {name: named for name, named in options.items() if named} | (
        {"entity": whose[0]} if whose else {}
    )

