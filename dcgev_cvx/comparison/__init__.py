"""Every method on one pencil and one k: values from below, bounds from above, a gap that trusts no solver.

>>> from dcgev_cvx import datasets
>>> from dcgev_cvx.comparison import compare
>>> found = compare(datasets.pitprops(), 3, ["solve", "no-sdp"])
>>> round(found.best_lower, 3), round(found.best_upper, 3), found.gap.closed
(2.475, 2.602, False)
"""

from .cells import Cell, run_cells
from .compare_methods import METHODS, compare
from .families import FAMILIES, StudyInstance, family
from .interval_plot import comparison_plot
from .rows import Comparison, ComparisonInterrupted, ComparisonRow
from .study import Study, StudyInterrupted, study

__all__ = ["FAMILIES", "Cell", "Study", "StudyInstance", "StudyInterrupted", "family", "run_cells", "study"]
__all__ += ["METHODS", "Comparison", "ComparisonInterrupted", "ComparisonRow", "compare", "comparison_plot"]
