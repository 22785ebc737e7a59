"""Pictures of MM at work and of its results, labelled with the paper's symbols and readable in grey.

Every function takes an optional Matplotlib Axes and returns the Axes that it drew on. Matplotlib is needed
(pip install 'dcgev-cvx[plot]').

plot_majoriser, plot_majoriser_2d, plot_basins   f and its majoriser g in one and two variables; where MM ends
plot_history, plot_sandwich, plot_path           one run along its steps; many runs along ρ̃ or ν
plot_tradeoff, plot_loadings                     values against k, vectors
comparison_plot                                  what `compare` found and proved
"""

from ..comparison.interval_plot import comparison_plot
from .majorisers import plot_basins, plot_majoriser, plot_majoriser_2d
from .runs import plot_history, plot_path, plot_sandwich
from .sheet import Sheet
from .vectors_and_values import plot_loadings, plot_tradeoff

__all__ = ["Sheet", "comparison_plot", "plot_loadings", "plot_tradeoff"]
__all__ += ["plot_basins", "plot_majoriser", "plot_majoriser_2d"]
__all__ += ["plot_history", "plot_path", "plot_sandwich"]
