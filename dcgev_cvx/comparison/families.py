"""Families of pencils: a recipe with sizes, strengths and seeds, of which a study makes its instances.

>>> from dcgev_cvx.comparison import family
>>> [instance.name for instance in family("spiked", n=[10, 20], seeds=2)]
['spiked n=10 seed=0', 'spiked n=10 seed=1', 'spiked n=20 seed=0', 'spiked n=20 seed=1']
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from .. import datasets
from .._numerics.checks import listed, one_of, shown
from ..builders import fda_pencil
from ..datasets.instance_library import Library, built_pencil
from ..errors import DataUnavailable, InvalidParameter, nearest
from ..pencils import Gram, Pencil, expect_pencil


@dataclass(frozen=True)
class StudyInstance:
    """A pencil by name, made where it is needed: `make(**parameters)`.

    Parameters
    ----------
    name : str
        Its name, unique in a study.
    make : callable
        Returns the pencil; a function of a module, so that worker processes find it.
    family : str
        What tables and pictures group by.
    parameters : mapping
        What make is called with, numbers and strings; they are columns of the results.
    identity : str
        What must be the same for saved results to be used: by default the family and the parameters.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.comparison import StudyInstance
    >>> StudyInstance("pit props", datasets.pitprops).pencil.n
    13
    """

    name: str
    make: Callable[..., Pencil]
    family: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    identity: str = ""

    @property
    def pencil(self) -> Pencil:
        """The pencil, made anew."""
        return expect_pencil(self.make(**self.parameters))

    @property
    def signature(self) -> str:
        """The identity as text."""
        return self.identity or f"{self.family} {sorted(self.parameters.items())}"


def spiked(n: int = 20, k0: int = 5, signal: float = 1.0, samples: int = 100, seed: int = 0) -> Pencil:
    """Sample covariance of I + signal·vvᵀ, v with k0 nonzeros: sparse PCA with a planted component."""
    return datasets.planted_pca(n, k0, strength=signal, samples=samples, rng=seed).pencil


def two_views(
    n: int = 20, k0: int = 3, signal: float = 0.8, samples: int = 100, ridge: float = 0.1, seed: int = 0
) -> Pencil:
    """Two views of n/2 variables, one canonical pair of correlation `signal` with k0 nonzeros each: sparse CCA."""
    half = n // 2
    return datasets.planted_cca(half, n - half, k0, correlation=signal, samples=samples, ridge=ridge, rng=seed).pencil


def two_classes(
    n: int = 20, k0: int = 3, signal: float = 1.0, samples: int = 100, ridge: float = 0.1, seed: int = 0
) -> Pencil:
    """Two Gaussian classes whose means differ by `signal` in k0 variables: sparse FDA."""
    X, y, _ = datasets.two_gaussians(n, k0, samples=samples, shift=signal, rng=seed)
    return fda_pencil(X, y, ridge=ridge)


def conditioned(
    n: int = 20, k0: int = 5, signal: float = 1.0, samples: int = 100, cond: float = 10.0, seed: int = 0
) -> Pencil:
    """A of `spiked`, and B with eigenvalues from 1/cond to 1, evenly spread in ratio, in random directions."""
    pencil = spiked(n, k0, signal, samples, seed)
    rng = np.random.default_rng([seed, n])
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1.0 / cond, 1.0, n)) @ Q.T
    return Pencil(pencil.A, None if cond == 1.0 else 0.5 * (B + B.T))


def gaussian(n: int = 20, samples: int = 100, seed: int = 0) -> Pencil:
    """CᵀC/samples of a matrix of standard normals: sparse PCA of noise, as in Section 4.4.2."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((samples, n)) / samples**0.5))


def indefinite_metric(n: int = 20, seed: int = 0) -> Pencil:
    """A random symmetric A with eigenvalues of both signs, and a dense B."""
    return datasets.indefinite(n, dense_metric=True, rng=seed)


FAMILIES: Mapping[str, Callable[..., Pencil]] = MappingProxyType(
    {
        "spiked": spiked,
        "cca": two_views,
        "fda": two_classes,
        "conditioned": conditioned,
        "gaussian": gaussian,
        "indefinite": indefinite_metric,
    }
)
"""Every family by the name that `family` and `dcgev study` take."""


def family(name: str, *, seeds: int | Iterable[int] = 10, **parameters: Any) -> list[StudyInstance]:
    """The instances of a family: every combination of the values that are given for its parameters.

    Parameters
    ----------
    name : str
        A name of `comparison.FAMILIES`; each is a function whose parameters and defaults say what can be set.
    seeds : int or iterable of int
        The seeds, or their number.
    **parameters : number or list of numbers
        Values of the family's parameters, such as n=[20, 40] or signal=[0.5, 1, 2].

    Returns
    -------
    list of StudyInstance
        One per combination and seed.

    Raises
    ------
    InvalidParameter
        For a family or a parameter that does not exist; the message names the nearest.

    Examples
    --------
    >>> from dcgev_cvx.comparison import family
    >>> found = family("cca", n=12, signal=[0.5, 0.9], seeds=3)
    >>> len(found), found[-1].name, found[-1].pencil.n
    (6, 'cca n=12 signal=0.9 seed=2', 12)
    """
    make = FAMILIES[one_of(name, "family", FAMILIES)]
    known = [parameter for parameter in signature(make).parameters if parameter != "seed"]
    for parameter in parameters:
        if parameter not in known:
            raise InvalidParameter(f"{name} has no parameter {parameter!r}: {nearest(parameter, known)}")
    numbers = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    values = {key: listed(value) or [value] for key, value in parameters.items()}
    made: list[StudyInstance] = []
    for combination in product(*values.values(), numbers):
        chosen = dict(zip((*values, "seed"), combination, strict=True))
        label = " ".join(f"{key}={value}" for key, value in chosen.items())
        made.append(StudyInstance(f"{name} {label}", make, name, chosen))
    if not made:
        raise InvalidParameter(f"family {name!r} was given no seed or an empty list: give at least one value of each.")
    return made


def given_pencil(pencil: Pencil) -> Pencil:
    """The pencil itself: what a worker calls for a pencil that travels with its cell."""
    return pencil


def pencils_of(library: Library) -> list[StudyInstance]:
    """The pencils of a library of instances, each once, made in the worker."""
    families = {each.source.name: each.source.family for each in library}
    return [StudyInstance(name, built_pencil, group, {"name": name}) for name, group in families.items()]


def instances_of(given: Any) -> list[StudyInstance]:
    """What `study` takes as its instances: pencils by name, records with a name and a pencil, or a folder of files."""
    if isinstance(given, str | Path):
        return folder_instances(Path(given))
    if isinstance(given, Pencil):
        return [pencil_instance("pencil", given)]
    if isinstance(given, Library):
        return pencils_of(given)
    pairs: Any = given.items() if isinstance(given, Mapping) else given
    try:
        made = [one_instance(each) for each in pairs]
    except TypeError as cause:
        raise InvalidParameter(
            f"instances = {shown(given)} must be a folder, pairs (name, pencil), or what `family` returns."
        ) from cause
    if not made:
        raise InvalidParameter("there is no instance: give at least one pencil.")
    names: dict[str, int] = {}
    for instance in made:
        names[instance.name] = names.get(instance.name, 0) + 1
    if twice := [name for name, times in names.items() if times > 1]:
        raise InvalidParameter(f"{len(twice)} names occur more than once ({twice[0]}): give every instance its own.")
    return made


def one_instance(given: Any) -> StudyInstance:
    """An StudyInstance, a pair (name, pencil), or a record with an `id` or `name` and a `pencil`."""
    if isinstance(given, StudyInstance):
        return given
    if isinstance(given, tuple | list):
        name, pencil = cast("Sequence[Any]", given)
        return pencil_instance(str(name), expect_pencil(pencil))
    for key in ("name", "id"):
        if hasattr(given, key) and hasattr(given, "pencil"):
            pencil = given.pencil() if callable(given.pencil) else given.pencil
            return pencil_instance(str(getattr(given, key)), expect_pencil(pencil), str(getattr(given, "family", "")))
    raise TypeError(f"{shown(given)} is no instance")


def pencil_instance(name: str, pencil: Pencil, group: str = "") -> StudyInstance:
    """An instance of a pencil in memory, known by the hash of its matrices."""
    return StudyInstance(name, partial(given_pencil, pencil), group, {}, pencil_hash(pencil))


def pencil_hash(pencil: Pencil) -> str:
    """The SHA-256 of the matrices."""
    A = pencil.A_factor() if pencil.A_terms else pencil.dense()[0]
    parts = [A, np.zeros(0) if pencil.B is None else pencil.B]
    digest = hashlib.sha256(repr([np.shape(part) for part in parts]).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
    return digest.hexdigest()


def folder_instances(folder: Path) -> list[StudyInstance]:
    """A pencil for each .npz file (A, or C with A = CᵀC; B and names where they are there) and square .npy file."""
    if not folder.is_dir():
        raise InvalidParameter(
            f"{folder} is no folder, and families are made by family(…): {nearest(str(folder), FAMILIES)}"
        )
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".npy", ".npz"))
    if not files:
        raise InvalidParameter(f"{folder} holds no .npy or .npz file; `dcgev study` reads .csv and .mtx files too.")
    return [pencil_instance(path.stem, stored_pencil(path), folder.resolve().name) for path in files]


def stored_pencil(path: Path) -> Pencil:
    """The pencil in a file; nothing is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (AttributeError, TypeError):  # a single array is no archive
        return Pencil(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError, BadZipFile) as cause:
        raise DataUnavailable(
            f"{path} cannot be read ({cause}): it must be an .npy or .npz file without objects."
        ) from cause
    if "A" not in arrays and "C" not in arrays:
        raise InvalidParameter(f"{path} holds {', '.join(arrays)}: it must hold A, or C with A = CᵀC, and may hold B.")
    names = arrays["names"].tolist() if "names" in arrays else None
    return Pencil(arrays["A"] if "A" in arrays else Gram(arrays["C"]), arrays.get("B"), names=names)
