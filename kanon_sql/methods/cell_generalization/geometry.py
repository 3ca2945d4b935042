"""Generalized cells: each attribute a column of codes per level of its hierarchy (aggarwal2005,
section 2)."""

from __future__ import annotations

import numpy as np

from kanon_sql.methods.geometry import TRIAL_ROWS, Classes, Geometry, Records, Trial, trial_codes
from kanon_sql.methods.task_view import TaskView
from kanon_sql.points.losses import generalized_cells
from kanon_sql.points.points import LossPoints, Points


class CellsGeometry(Geometry):
    """Points without numeric columns: every value of a number is a category of its own."""

    by_loss = True
    own_measure = "generalized cells"
    objective = "cells"

    def points(self, records: Records, task: TaskView) -> Points:
        """LossPoints of the cells."""
        return records.cells()

    def trial(self, trial: Trial) -> Points:
        """A flat attribute and a hierarchy."""
        rows = trial.rows or TRIAL_ROWS
        return LossPoints.of(
            np.zeros((rows, 0)), trial_codes(rows), [1.0, 0.5, 0.5], first=[0, 1, 1]
        )

    def cost(self, classes: Classes, task: TaskView) -> float | None:
        """The generalized cells."""
        return generalized_cells(classes.records.cells(), classes.labels)

    def unit(self, task: TaskView) -> str:
        """Cells."""
        return "cells"

    def lower_bound(self, points: Points, task: TaskView) -> float | None:
        """By the (k-1)-th nearest of each record."""
        from kanon_sql.methods.cell_generalization.cells import (  # loads the compiler
            neighbour_bound,
        )

        assert isinstance(points, LossPoints)
        return neighbour_bound(points, task.k)


CELLS = CellsGeometry()
