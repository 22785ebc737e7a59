"""Topics in word counts that stay sparse
======================================

**Question.** Can sparse components be found in a table of a million documents without making it dense?

Word counts are nearly all zero. Centring would fill them, so the mean is subtracted inside the products instead. The
search then looks at the few hundred words of largest variance. This example uses a smaller table; the same call takes
a million documents and 100,000 words (`python -m benchmarks scale`).
"""

import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import components, datasets, pca_pencil

# %%
# 50,000 documents of words drawn by Zipf's law. One document in ten also has the ten words of one of five topics.
X, topics = datasets.word_counts(50_000, 20_000)
pencil = pca_pencil(X)
print(f"{X.shape[0]} × {X.shape[1]}, {X.nnz} nonzeros, {X.nnz / np.prod(X.shape):.2%} of all entries")
print(pencil)

# %%
# Five components of ten words each. `method` says how many words were looked at.
found = components(pencil, [10] * 5)
print(found.solutions[0].method)
for solution in found.solutions:
    print(f"value {solution.value:.3f}: words {', '.join(str(i) for i in solution.support)}")

# %%
# The loadings of the first hundred words: one row per component.
figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
image = ax.imshow(np.abs(found.V[:100].T), aspect="auto", cmap="Greys", vmin=0.0)
ax.set(xlabel="word, by frequency", ylabel="component", yticks=range(5), yticklabels=range(1, 6))
figure.colorbar(image, label="absolute loading")
figure.savefig("topics_in_word_counts.png")
planted = {tuple(topic) for topic in topics.tolist()}
assert {solution.support for solution in found.solutions} == planted

# %%
# **Conclusion.** The five components are the five planted topics.
