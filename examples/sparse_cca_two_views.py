"""Learn how sparse CCA finds the few variables that two views share
=================================================================

And what misleads it when there are more variables than samples: too small a ridge. The ridge "auto" is estimated from
the training samples alone.
"""

import numpy as np

from dcgev_cvx import DCCCA, InvalidPencil, cca_pencil


def views(rng, samples, size=100, shared=5):
    """Two views of white noise whose first variables share one factor."""
    z = rng.standard_normal((samples, 1))
    X, Y = rng.standard_normal((2, samples, size))
    X[:, :shared] += z
    Y[:, :shared] += z
    return X, Y


rng = np.random.default_rng(0)
train, test = views(rng, 80), views(rng, 2000)
try:
    cca_pencil(*train)
except InvalidPencil as error:
    print("without a ridge:", error)

for ridge in (0.02, 0.1, 0.5, 2.0, 8.0, "auto"):
    model = DCCCA(kx=5, ky=5, ridge=ridge, scale=False).fit(*train)
    found = np.flatnonzero(model.x_weights_[:, 0]), np.flatnonzero(model.y_weights_[:, 0])
    hits = sum(int(np.sum(view < 5)) for view in found)
    inside, outside = model.score(*train), model.score(*test)
    print(f"ridge {ridge:4}: {hits} of 10 right, correlation {inside:.3f}, on new samples {outside:.3f}")
