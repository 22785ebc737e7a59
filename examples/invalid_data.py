"""Learn how errors describe data that cannot be used
==================================================

Each error names the columns and what to do about them.
"""

import numpy as np
import pandas as pd

from dcgev_cvx import DCGEVError, cca_pencil, fda_pencil, pca_pencil

rng = np.random.default_rng(0)
good = pd.DataFrame(rng.standard_normal((8, 3)), columns=["height", "weight", "age"])
other = rng.standard_normal((8, 2))

for attempt in (
    lambda: pca_pencil(good.assign(city=list("abcdefgh"))),
    lambda: pca_pencil(good.assign(age=np.nan)),
    lambda: pca_pencil(good.assign(age=40.0), scale=True),
    lambda: cca_pencil(good.assign(twin=3 * good.weight), other),
    lambda: cca_pencil(good, other[:5]),
    lambda: fda_pencil(good, ["a"] * 7 + ["b"]),
):
    try:
        attempt()
    except DCGEVError as error:
        print(f"{type(error).__name__}: {error}")
