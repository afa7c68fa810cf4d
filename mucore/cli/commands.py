"""The command line: `python -m mucore COMMAND`.

What a script reads goes to stdout (JSON with `--json`), what a person watches to stderr. Exit
codes: 0 success, 1 some run failed, 2 the request was wrong, 3 a defect of mucore, 130 interrupted.
Commands import what they need themselves, so that the catalogue answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import cyclopts

import mucore
from mucore import unforeseen
from mucore.cli import (
    bench,
    catalogue,
    cluster,
    comparisons,
    forget_set,
    jobs,
    own,
    pages,
    prepare,
    stored,
    suite,
    tuning,
)
from mucore.cli.base import INTERRUPTED, UNFORESEEN, WRONG, complain, sentences_on_stderr
from mucore.errors import BadValue, MucoreError, Unforeseen
from mucore.userfiles import paths

LONGEST = 600  # letters of a sentence of Cyclopts, which repeats a value whatever its length

app = cyclopts.App(
    name="mucore",
    help="Machine unlearning compared honestly: methods, scenarios and metrics, computed once and "
    "stored.",
    help_epilogue="Every command takes --home DIR, the folder of store and artifacts (default: "
    "MUCORE_HOME, else ~/.mucore).",
    version=mucore.__version__,
    help_format="plaintext",
    # a list is its words: read as JSON, a word of brackets alone would end in a RecursionError;
    # what a flag turns on, nobody has to turn off
    default_parameter=cyclopts.Parameter(json_list=False, negative=""),
    suppress_keyboard_interrupt=False,  # which would end the process before `main` says a word
)
for command in (
    pages.app,
    catalogue.methods,
    catalogue.metrics,
    catalogue.scenarios,
    catalogue.datasets,
    catalogue.models,
    catalogue.presets,
    catalogue.check,
    forget_set.forget_set,
    comparisons.plan,
    comparisons.run,
    comparisons.quality,
    own.evaluate,
    prepare.prepare,
    tuning.tune,
    suite.app,
    stored.results,
    stored.export,
    stored.report,
    stored.stats,
    stored.analyse,
    stored.remeasure,
    stored.weights,
    stored.gc,
    stored.backup,
    stored.purge,
    jobs.worker,
    jobs.jobs,
    jobs.cancel,
    jobs.retry,
    cluster.app,
    bench.bench,
):
    app.command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Prints errors that a user can mend as a sentence on
    stderr.
    """
    tokens = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):  # a name of bytes that are no text can be printed, too
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        _take_home(tokens)
        with sentences_on_stderr():
            code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except cyclopts.CycloptsError as error:
        return complain(f"{str(error).strip()[:LONGEST]} See --help.", WRONG)
    except MucoreError as error:
        return complain(str(error), WRONG)
    except BrokenPipeError:  # the reader of a pipe has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        return complain(str(stop) or "Interrupted.", INTERRUPTED)
    except SystemExit as end:  # of the options of `app`, which has said why
        return end.code if isinstance(end.code, int) else WRONG
    except Exception as error:  # the last step of this door: nobody gets to see a traceback
        sentence = unforeseen.told(error, "command line")
        return complain(str(sentence), UNFORESEEN if isinstance(sentence, Unforeseen) else WRONG)


def _take_home(tokens: list[str]) -> None:
    """Move `--home DIR`, wherever it stands, into MUCORE_HOME, which everything below reads."""
    for index, token in enumerate(tokens):
        if token != "--home" and not token.startswith("--home="):
            continue
        used = 2 if token == "--home" else 1
        folder = "".join(tokens[index + 1 : index + 2]) if used == 2 else token[len("--home=") :]
        if not folder:  # an empty variable of a script must not mean the usual home
            raise BadValue("--home needs a folder, such as --home ./runs.")
        os.environ["MUCORE_HOME"] = str(paths.path(folder, what="--home"))
        del tokens[index : index + used]
        return
