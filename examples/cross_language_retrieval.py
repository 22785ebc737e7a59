"""Learn how sparse CCA finds translations
=======================================

Each component needs few similarities; a query must be projected with the deflated scores.
"""

from dcgev_cvx.reproduction.retrieval import (
    deflated_projection,
    dense_cca,
    kernel_views,
    plain_projection,
    score,
    sparse_cca,
)
from dcgev_cvx.reproduction.translated_texts import planted_translations

corpus = planted_translations(documents=300, rng=0)
training, queries = corpus.split(200, 100, seed=0)
views = kernel_views(training)

dense = dense_cca(*views, 10)
print(f"dense CCA, 10 components: AROC {score(dense[0](queries.E), dense[1](queries.F)).aroc:.4f}")

components = sparse_cca(*views, 10, zeros=0.88)
for name, project in (("deflated scores", deflated_projection), ("plain loadings", plain_projection)):
    first, second = (project(view, components, side) for side, view in enumerate(views))
    scores = score(first(queries.E), second(queries.F))
    print(f"sparse CCA, {name}: AROC {scores.aroc:.4f}, {first.evaluations} of {views[0].n} similarities per query")
print(f"largest KKT residual of the components: {max(c.stationarity for c in components):.0e}")
