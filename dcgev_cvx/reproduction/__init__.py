"""Every table and figure of the paper's experiments: run, continued after an interruption, compared number by number.

Read in this order: `experiments` runs some experiments and writes the report; `table1`, `figure1`, `figure2`,
`times_by_size` (Figure 3, Table 2), `tables34`, `table5` and `figure6` are the paper's tables and figures, each a
list of tasks and a function from their results to a section of the report. `running` computes tasks and keeps their
results on disk; `report` says what a section is and writes it. `corpora` is the data of Section 5.1. `timing` runs
and times the methods of Section 4; `sparse_pairs` and `retrieval` are DC-CCA and its use in Section 5.1.
"""

from .experiments import EXPERIMENTS, named, reproduce

__all__ = ["EXPERIMENTS", "named", "reproduce"]
