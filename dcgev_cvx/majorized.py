"""What the driver `mm` asks of a program: `Majorized` is required, each of the other protocols is optional.

No class needs to inherit from them: a program has a capability when it has its methods.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from ._numerics.checks import Index, Vector
from .certificates import Certificate


class Majorized(Protocol):
    """min f over Ω with a surrogate g: what the driver asks of a program."""

    def start(self, x0: Any = None) -> Vector:
        """A point of Ω to start from: x0 where it is given and lies in Ω."""
        ...

    def f(self, x: Vector) -> float:
        """The objective."""
        ...

    def g(self, x: Vector, y: Vector) -> float:
        """The surrogate: g(x, y) ≥ f(x) for x in Ω, and g(y, y) = f(y)."""
        ...

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms, which a decrease of f is measured against."""
        ...

    def certify(self, x: Vector, history: Sequence[Any] = ()) -> Certificate:
        """What the data say about x: is it feasible and stationary, and did f descend along the history?"""
        ...


class Normed(Protocol):
    """A program with a length of its own for steps, in place of the Euclidean one."""

    def norm(self, x: Vector) -> float:
        """The length of a step."""
        ...


class Collapsing(Protocol):
    """A program with x = 0 in Ω, where nothing may be left to optimise."""

    def collapsed(self, x: Vector) -> bool:
        """Is x zero up to rounding, and f no larger at 0?"""
        ...


class Rounded(Protocol):
    """A program that knows its own rounding error."""

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g, sums of this size, may lose to rounding at x."""
        ...


class Projecting(Protocol):
    """A program whose steps can be extrapolated (`steps.accelerate`)."""

    def project(self, x: Vector) -> Vector:
        """A point of Ω near x; x itself inside Ω."""
        ...


class Restrictable(Protocol):
    """A program that can be restricted to a few variables, the others held at zero (`steps.shrink`)."""

    def restrict(self, support: Index) -> Any:
        """The program on these variables alone; its f and g differ from the whole's by a constant."""
        ...

    def zeros_stay(self, y: Vector) -> bool:
        """Do the zeros of y stay zero in this and all later steps?"""
        ...


class Explaining(Protocol):
    """A program that may know why no certificate can pass."""

    def obstacle(self, x: Vector) -> str:
        """Why the certificate cannot pass at x, as a sentence; empty where it can."""
        ...


class Named(Protocol):
    """A program whose variables have names."""

    def name(self, i: int) -> str:
        """The name of entry i of x."""
        ...
