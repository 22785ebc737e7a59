"""Argument checks, data tables, eigenpairs, factors, proofs and threads. Nothing here is public."""
