"""Input checks, eigenpairs, factors and threads: what the package stands on. Nothing here is public."""
