"""Learn how few measurements tell benign from malignant
=====================================================

Sparse FDA by k, by ν, and as a LASSO in disguise.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from dcgev_cvx import DCFDA, fda_vectors, fisher_path

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target
for k in (1, 2, 3, 5, 10, 30):
    scores = cross_val_score(DCFDA(k=k), X, y, cv=5)
    print(f"k = {k:2d}  accuracy {scores.mean():.3f}")

model = DCFDA(k=5).fit(X, y)
print("five variables:", ", ".join(X.columns[model.components_[0] != 0.0]))

a, B = fda_vectors((X - X.mean()) / X.std(), y, ridge=0.01)
path = fisher_path(a, B, [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
print("the ν path visits k =", *dict.fromkeys(path.cardinalities))
print("and misses k =", *path.missing)
