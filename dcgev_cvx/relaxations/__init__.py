"""Convex relaxations of (SGEV-P) and of sparse FDA, solved, each with a bound that trusts no solver (Sections 3, 6).

A relaxation replaces xxᵀ by a matrix X ⪰ 0 and ‖x‖₀ ≤ k by a convex condition on X. Its optimal value bounds
(SGEV-P) from above, provided that every k-sparse x with xᵀBx = 1 gives a feasible X = xxᵀ; where that holds
up to some k only, `Relaxation.valid_k` says up to which.

literal_sdp, literal_dual   the paper's SDP and its dual as printed: λmax(A, B) whatever the radius
entrywise_sdp               1ᵀ|X|1 ≤ radius², the paper's tractable form
homogeneous_sdp             Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ: valid for every B
pairwise_sdp                one condition for each pair of variables: valid for every B, and the tightest here
penalized_sdp               tr(XA) − ρ1ᵀ|X|1, DSPCA's form
fisher_l1, fisher_l1_penalized   the two QPs of sparse FDA

k may be one number or one for each view of the pencil (`budgets.Budget`), and radius likewise.

`relaxations.bounds` holds the bounds, which need no CVXPY; the modules that do are imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
