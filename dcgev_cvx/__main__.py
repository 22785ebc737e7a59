"""The command `dcgev`, also as `python -m dcgev_cvx`: a signal is answered by one line, also during the imports.

Ctrl-C before that, while Python itself starts and this package is found, prints Python's own traceback.
"""

import os
import signal
import sys
from contextlib import suppress


def leave(number: int, frame: object) -> None:
    """End the command by an exception, so that the processes it has started are ended too."""
    signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "alarm"):
        signal.alarm(5)  # ends the process if a library swallows the exception
    with suppress(OSError):  # stderr is closed
        os.write(2, f"dcgev: ended by {signal.Signals(number).name}.\n".encode())
    raise SystemExit(128 + number)


def main() -> int:
    """Import the command line and run it; return the exit code."""
    try:
        for number in filter(None, (signal.SIGTERM, getattr(signal, "SIGHUP", None))):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
                signal.signal(number, leave)
        from .cli import main

        return main()
    except KeyboardInterrupt:  # while the command was being imported
        print("dcgev: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    from pathlib import Path  # not for the command `dcgev`: the fewer imports above, the sooner signals are answered

    if not sys.flags.safe_path:  # -m put the current folder first, where a file such as numpy.py would be imported
        folder: str = sys.path.pop(0)
        if Path(folder).resolve() == Path(__file__).resolve().parents[1]:  # a clone that is not installed
            sys.path.append(folder)
    raise SystemExit(main())
