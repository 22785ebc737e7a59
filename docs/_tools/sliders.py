"""Plots with a slider: the frames are computed when the page is built, so that no kernel is needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
import plotly.graph_objects as go
from IPython.display import HTML

from dcgev_cvx import SparseGEV
from dcgev_cvx.search.path import Path

BLACK, BLUE, ORANGE = "black", "#0072B2", "#D55E00"
names = count(1)


def shown(figure: go.Figure, what: str) -> HTML:
    """The figure as HTML that loads the copy of plotly.js on this site."""
    name = f"moving-{what}-{next(names)}"
    config = {"displayModeBar": False}  # its buttons cover the legend on a small screen
    body = figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, auto_play=False, config=config)
    return HTML(f'<script src="../_static/plotly.min.js"></script>{body}')


def with_slider(traces: Sequence[Sequence[Any]], labels: Sequence[str], prefix: str, **options: Any) -> go.Figure:
    """A figure whose slider chooses a frame; `titles` has one title per frame, `first` is the frame shown first."""
    titles, first = options.pop("titles", [""] * len(traces)), options.pop("first", 0)
    frames = [
        go.Frame(data=list(data), name=str(i), layout={"title": {"text": title}})
        for i, (data, title) in enumerate(zip(traces, titles, strict=True))
    ]
    jump = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    steps = [{"args": [[str(i)], jump], "label": label, "method": "animate"} for i, label in enumerate(labels)]
    slider = {"steps": steps, "currentvalue": {"prefix": prefix}, "pad": {"t": 70}, "active": first}
    figure = go.Figure(data=list(traces[first]), frames=frames)
    title, margin = {"text": titles[first], "font": {"size": 14}}, {"t": 40, "l": 60, "r": 20}
    figure.update_layout(sliders=[slider], template="simple_white", height=510, margin=margin, title=title, **options)
    return figure


def majoriser(program: SparseGEV, starts: Sequence[float]) -> HTML:
    """Plot f and g(·, y) in one variable, with y on the slider."""
    from dcgev_cvx.plotting.majorisers import next_point

    grid = np.linspace(-1.0, 1.0, 201)
    f = [program.f(np.array([x])) for x in grid]
    frames, labels = [], []
    for start in starts:
        y = np.array([float(start)])
        x = next_point(program, y)
        g = [program.g(np.array([z]), y) for z in grid]
        frames.append(
            [
                go.Scatter(x=grid, y=f, mode="lines", line={"color": BLACK}, name="f(x)"),
                go.Scatter(x=grid, y=g, mode="lines", line={"color": BLUE, "dash": "dash"}, name="g(x, y)"),
                mark(y[0], program.f(y), BLACK, "circle", "y"),
                mark(x[0], program.g(x, y), BLUE, "triangle-down", "x = argmin g(·, y)"),
                mark(x[0], program.f(x), ORANGE, "square", "f at x"),
            ]
        )
        labels.append(f"{start:.2f}")
    above = {
        "orientation": "h",
        "y": 1.0,
        "yanchor": "bottom",
    }  # beside the plot it would take half of a small screen
    axes = {"xaxis_title": "x", "yaxis": {"range": [min(f) - 0.15, max(f) + 0.6]}, "legend": above}
    return shown(with_slider(frames, labels, "y = ", first=int(len(starts) * 0.4), **axes), "majoriser")


def mark(x: float, y: float, color: str, symbol: str, name: str) -> go.Scatter:
    """One labelled point."""
    return go.Scatter(x=[x], y=[y], mode="markers", marker={"color": color, "symbol": symbol, "size": 13}, name=name)


def loadings(path: Path) -> HTML:
    """Plot the renormalized loadings along a ρ̃ path, with ρ̃ on the slider."""
    from dcgev_cvx import renormalize

    pencil = path.pencil
    variables = [pencil.name(i) for i in range(pencil.n)]
    points = [point for point in path.points if point.k > 0]
    frames = [[go.Bar(x=variables, y=renormalize(pencil, p.result.x), marker_color=BLUE)] for p in points]
    titles = [
        f"{p.k} nonzero{'' if p.k == 1 else 's'}, xᵀAx = {p.value / pencil.lambda_max:.1%} of λmax" for p in points
    ]
    axes = {"yaxis": {"range": [-0.75, 1.05], "title": "xᵢ"}, "showlegend": False, "titles": titles}
    return shown(with_slider(frames, [f"{p.rho:.3g}" for p in points], "ρ̃ = ", **axes), "path")
