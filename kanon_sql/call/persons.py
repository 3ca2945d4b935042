"""What a call asks for where persons have several rows."""

from __future__ import annotations

from dataclasses import replace

from kanon_sql.call.options import Options
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.privacy import EntityShare


def of_persons(task: GroupTask, roles: Roles, options: Options) -> GroupTask:
    """The task, of persons where the call says whose row each row is.

    Raises:
        OptionError: options that don't go together, or a method that publishes more of a class than
            the values of its rows.
    """
    together = options.roles.entity_rows == "together"
    if roles.entity is None:
        if "entity_rows" in options.explicit:
            raise OptionError(
                "entity_rows is given, and no column identifies the person of each row. Name it in "
                "entity='...'."
            )
        return task
    if not task.method.promises_k:
        raise OptionError(
            f"The method {task.method.name!r} promises no class size, so it promises none of "
            "persons. Leave entity out, or use r_cellular."
        )
    if not together:
        return replace(task, beside_k=(*task.beside_k, EntityShare(column=roles.entity, k=task.k)))
    of_places = isinstance(task.geometry, AttributeGeometry) and (
        task.geometry.domain in ("places", "nodes")
    )
    if of_places or task.method.keeps_models:
        raise OptionError(
            f"The method {task.method.name!r} releases the area of each class, and rows of one "
            "person may be in different areas. Use entity_rows='apart', or another method."
        )
    return replace(task, persons=True)
