"""`python -m mucore`: the command line."""

import signal
import sys

from mucore import signals


def main() -> int:
    # SIGTERM and a closed terminal are as Ctrl-C from the first moment on; what computes has
    # handlers of its own
    signals.on_end(signal.default_int_handler, ctrl_c=False)
    try:
        code = _run()
    except KeyboardInterrupt:  # before the command line took over
        print("Interrupted.", file=sys.stderr)
        code = 130
    # what was to be done is done, and Python's own end would answer with a traceback
    for number in signals.ending():
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
