"""`python -m dcgev_cvx` is the command `dcgev`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    if not sys.flags.safe_path:  # -m put the current folder first, where a file such as numpy.py would be imported
        folder: str = sys.path.pop(0)
        if Path(folder).resolve() == Path(__file__).resolve().parents[1]:  # a clone that is not installed
            sys.path.append(folder)

    try:
        from .cli import main

        code: int = main()
    except KeyboardInterrupt:  # while the command was being imported
        print("dcgev: interrupted.", file=sys.stderr)
        code = 130
    raise SystemExit(code)
