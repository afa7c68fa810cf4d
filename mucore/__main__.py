"""`python -m mucore`: the command line."""

import signal
import sys


def main() -> int:
    # SIGTERM is as Ctrl-C from the first moment on; what computes has handlers of its own
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = _run()
    except KeyboardInterrupt:  # before the command line took over
        print("Interrupted.", file=sys.stderr)
        code = 130
    # what was to be done is done, and Python's own end would answer with a traceback
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    return code


def _run() -> int:
    try:
        from mucore.cli import main as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "mucore":
            raise
        print(
            f"The package {error.name} is missing. Install what mucore needs: {sys.executable} -m "
            "pip install -c constraints.txt -e .",
            file=sys.stderr,
        )
        return 2
    return run()


if __name__ == "__main__":
    sys.exit(main())
