"""The command `dcgev`, also as `python -m dcgev_cvx`: an interrupt during its imports is one line as well."""

import sys
from pathlib import Path


def main() -> int:
    """Import the command line and run it; return the exit code."""
    try:
        from .cli import main

        return main()
    except KeyboardInterrupt:  # while the command was being imported
        print("dcgev: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    if not sys.flags.safe_path:  # -m put the current folder first, where a file such as numpy.py would be imported
        folder: str = sys.path.pop(0)
        if Path(folder).resolve() == Path(__file__).resolve().parents[1]:  # a clone that is not installed
            sys.path.append(folder)
    raise SystemExit(main())
