"""`python -m mucore`: the command line."""

import sys


def main() -> int:
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
