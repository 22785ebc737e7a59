"""Errors name the columns and the remedy
======================================

**Question.** What happens if the data cannot be used?

Real tables contain text, missing values, constant columns and copies of other columns.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dcgev_cvx import DCGEVError, cca_pencil, fda_pencil, pca_pencil

# %%
# A table without faults, and six faulty versions of it:
rng = np.random.default_rng(0)
good = pd.DataFrame(rng.standard_normal((8, 3)), columns=["height", "weight", "age"])
other = rng.standard_normal((8, 2))
attempts = {
    "text": lambda: pca_pencil(good.assign(city=list("abcdefgh"))),
    "missing values": lambda: pca_pencil(good.assign(age=np.nan)),
    "constant column": lambda: pca_pencil(good.assign(age=40.0), scale=True),
    "copied column": lambda: cca_pencil(good.assign(twin=3 * good.weight), other),
    "rows missing": lambda: cca_pencil(good, other[:5]),
    "class of one": lambda: fda_pencil(good, ["a"] * 7 + ["b"]),
}

# %%
# Each of them raises an error of the package. The message says what was given, what is allowed, and what to do.
raised = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except DCGEVError as error:
        raised[name] = type(error).__name__
        print(f"{name}: {raised[name]}: {error}\n")

# %%
# Every fault with the class of its error:
figure, ax = plt.subplots(figsize=(5.2, 2.2), layout="constrained")
ax.table([[name, kind] for name, kind in raised.items()], colLabels=["fault", "error"], loc="center")
ax.set_axis_off()
figure.savefig("invalid_data.png")
assert set(raised) == set(attempts)

# %%
# **Conclusion.** All errors are subclasses of ``DCGEVError`` and are raised before anything is computed.
