"""Every table and figure of the paper's experiments: run, continued after an interruption, compared number by number.

Read in this order: `experiments` runs some experiments and writes the report; `table1` … `figure6` are the paper's
tables and figures, each a list of tasks and a function from their results to a section of the report; `running`
computes tasks and keeps their results on disk; `report_writer` writes the report. `corpora`, `gene_expression` and
`songs` are the data, `retrieval` and `vocabulary` the applications of Section 5.
"""

from __future__ import annotations

from .experiments import EXPERIMENTS, named, reproduce

__all__ = ["EXPERIMENTS", "named", "reproduce"]
