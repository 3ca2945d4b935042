"""How the values of sensitive columns are spread over all rows, for models that go by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kanon_sql.blocks.source import BlockSource
from kanon_sql.call.relation import Relation
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.sensitive import learned_column
from kanon_sql.names import caseless
from kanon_sql.plan.models import domain_sql
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import PrivacyModel


class _Levels(NamedTuple):
    """The levels of a hierarchy, as the encoding looks at them."""

    levels: tuple[pa.Array, ...]


def learn_values(
    source: BlockSource, models: Sequence[PrivacyModel], trees: Mapping[str, Sequence[pa.Array]],
    part: int,
) -> tuple[dict[str, SensitiveColumn], dict[str, Relation]]:
    """The sensitive columns that models hold against all rows, or by a hierarchy, and relations of
    their values, by their names in lower case.

    Args:
        source: all rows, or those of a part of them.
        models: what each class must keep.
        trees: the levels of hierarchies over all rows, by column in lower case.
        part: the number of the part.
    """
    known: dict[str, SensitiveColumn] = {}
    domains: dict[str, Relation] = {}
    types = {caseless(name): kind for name, kind in source.request.types.items()}
    of_persons = source.request.call.task.persons
    for model in models:
        name = caseless(model.column)
        if name in known or not (model.of_all_rows or name in trees):
            continue
        text = domain_sql(source.counted(model.column, of_persons))
        table = source.session.query(text, lambda relation: relation.to_arrow_table())
        domains[name] = source.keep(f"values_{part}_{len(known)}", table)
        valid = table.filter(table["label"].is_valid())
        levels = trees.get(name)
        known[name] = learned_column(
            Column(model.column, types[name]), valid["label"].to_pylist(),
            valid["number"].cast(pa.float64()).fill_null(0.0).to_numpy(),
            valid["many"].to_numpy().astype(np.int64),
            int(np.sum(table["many"].to_numpy())) - int(np.sum(valid["many"].to_numpy())),
            None if levels is None else _Levels(tuple(levels)),
        )
    return known, domains
