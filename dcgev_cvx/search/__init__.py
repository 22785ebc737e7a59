"""A vector with k nonzeros: `solve`, `path`, `components`."""
