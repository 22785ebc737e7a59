"""Who may import whom: the referee never imports the players, and importing the package is light."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dcgev_cvx

ROOT = Path(dcgev_cvx.__file__).parent

LAYERS = [
    "errors",
    "_numerics",
    "pencils",
    "builders",
    "budgets",
    "penalties",
    "certificates",
    "programs",
    "solutions",
    "datasets",
    "models",
    "majorized",
    "steps",
    "mm",
    "algorithms",
    "dc",
    "search",
    "relaxations",
    "exact",
    "rivals",
    "comparison",
    "verify",
    "teach",
    "estimators",
    "plotting",
    "cli",
]
"""The rooms from the ground up: each imports only rooms to its left."""

WITHOUT_CVXPY = [
    "errors",
    "_numerics",
    "pencils",
    "builders",
    "budgets",
    "penalties",
    "certificates",
    "programs",
    "solutions",
]
"""The referee and what it stands on."""

HEAVY = ["cvxpy", "scipy.optimize", "sklearn", "matplotlib", "numba", "pandas", "rich"]


def source(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if (path / "__init__.py").exists() else path.with_suffix(".py")


def imports(module: str) -> set[str]:
    """Every module that a module's source imports, wherever the import stands; ours without the package's name."""
    package = module.split(".") if source(module).name == "__init__.py" else module.split(".")[:-1]
    tree = ast.parse(source(module).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module or "").split(".") * bool(node.module)
            found |= {".".join(base)} | {".".join([*base, alias.name]) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("dcgev_cvx.") for name in found}


def members(room: str) -> list[str]:
    """The modules of a room."""
    paths = (ROOT / room).rglob("*.py")
    inside = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return sorted(inside) or [room] * source(room).exists()


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name and source(name).exists()}


def reachable(module: str) -> set[str]:
    """Every module of ours that a module's source can reach."""
    seen, todo = set(), {module}
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= ours(imports(name)) - seen
    return seen


def run(code: str, **environment: str) -> str:
    """The output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout.strip()


@pytest.mark.parametrize("room", WITHOUT_CVXPY)
def test_the_referee_never_reaches_cvxpy(room):
    for module in members(room):
        for name in reachable(module):
            assert not any(found.split(".")[0] == "cvxpy" for found in imports(name)), f"{module} reaches {name}"


def test_importing_the_referee_loads_no_cvxpy():
    names = ", ".join(f"'dcgev_cvx.{module}'" for room in WITHOUT_CVXPY for module in members(room))
    code = f"import importlib, sys\nfor name in [{names}]: importlib.import_module(name)\nprint('cvxpy' in sys.modules)"
    assert run(code) == "False"


def test_importing_the_package_is_light():
    code = f"import sys, dcgev_cvx\nprint([name for name in {HEAVY} if name in sys.modules])"
    assert run(code) == "[]"


def test_a_closed_form_run_and_its_certificate_load_no_cvxpy():
    code = (
        "import sys, dcgev_cvx\nresult = dcgev_cvx.dc_pca(dcgev_cvx.datasets.pitprops(), rho=4.84)\n"
        "print(result.converged, result.certificate.passes(), 'cvxpy' in sys.modules)"
    )
    assert run(code) == "True True False"


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_every_module_belongs_to_a_room():
    assert {room_of(name) for name in modules() - {"__init__", "__main__"}} <= set(LAYERS)


@pytest.mark.parametrize("room", LAYERS)
def test_layers_point_one_way(room):
    below = set(LAYERS[: LAYERS.index(room) + 1])
    for module in members(room):
        for found in ours(imports(module)):
            other = room_of(found)
            assert other in below, f"{module} imports {found}"


def test_the_driver_knows_steps_by_their_protocol_alone():
    assert not {"steps.conic", "steps.closed", "steps.backend", "algorithms"} & reachable("mm")


def test_only_the_backend_calls_a_problems_solve():
    """`….problem.solve(…)` or `cp.Problem(…).solve(…)`: in steps/backend.py and nowhere else."""
    for path in ROOT.rglob("*.py"):
        if path in (ROOT / "steps" / "backend.py", ROOT / "verify" / "solver_program.py"):
            continue  # the second one is the process of a solver on trial
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "solve":
                receiver = ast.unparse(node.func.value).split("(")[0].lower()
                assert not receiver.endswith(("problem", "prob")), f"{path.name}: {receiver}"


def modules() -> set[str]:
    """The names under which `dcgev_cvx.<name>` could mean a module."""
    return {path.stem for path in ROOT.glob("*.py")} | {path.parent.name for path in ROOT.glob("*/__init__.py")}


def homes() -> dict[str, str]:
    """The public names and the modules that they are in, as type checkers see them; "" for modules."""
    tree = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def test_no_module_shares_its_name_with_a_public_name():
    named = {name for name, home in homes().items() if not home}
    assert named <= modules()
    assert not (set(homes()) - named) & modules()


def test_every_public_name_is_there():
    kinds = [kind for kind in vars(dcgev_cvx.errors).values() if isinstance(kind, type)]
    errors = {kind.__name__ for kind in kinds if issubclass(kind, dcgev_cvx.DCGEVError)}
    assert errors <= set(dcgev_cvx.__all__) <= set(dir(dcgev_cvx))
    assert sorted(dcgev_cvx.__all__) == sorted(homes())
    for name, home in homes().items():
        module = importlib.import_module(f"dcgev_cvx.{home or name}")
        assert getattr(dcgev_cvx, name) is (getattr(module, name) if home else module)
    with pytest.raises(AttributeError, match="No dcgev_cvx attribute sparce_gev"):
        _ = dcgev_cvx.sparce_gev


def test_type_checkers_see_the_same_names():
    tree = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(listed)) == sorted(dcgev_cvx.__all__)


def test_every_module_says_what_it_is():
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), f"{path.name} has no docstring"


def test_no_utils():
    assert not {"utils", "helpers", "common", "misc"} & modules()
