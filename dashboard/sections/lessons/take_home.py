"""What a reader takes home of a lesson: its steps with their figures, what the reader predicted and
what came of it, and the questions with their answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from dashboard import state
from dashboard.charts.parts import noise
from dashboard.lessons.records import Lesson, Pictures, Played, Step, compare, shows
from dashboard.lessons.results import LessonResults
from dashboard.report import Block, Facts, Items, Picture, Section, Table, Text
from dashboard.sections.lessons import figures
from dashboard.widgets import take_home

Given = dict[int, float | str]  # by the number of the step, or of the question


def offer(lesson: Lesson, results: LessonResults) -> None:
    """The file of this page is the lesson; what the reader said is read now."""
    name = f"lesson:{lesson.id}"
    guesses = {
        number: given
        for number in range(1, lesson.length)
        if (given := state.ticket(f"{name}:{number}:guess")) is not None
    }
    answers = {
        number: given
        for number in range(1, len(lesson.check) + 1)
        if (given := state.ticket(f"{name}:check:{number}")) is not None
    }
    dark = state.dark()
    take_home.instead(lambda: sections(lesson, results, guesses, answers, dark=dark))


def sections(
    lesson: Lesson, results: LessonResults, guesses: Given, answers: Given, *, dark: bool
) -> Sequence[Section]:
    found = [
        Section(step.title, tuple(_step(number, step, results, guesses, dark=dark)))
        for number, step in enumerate(lesson.steps, start=1)
    ]
    questions = []
    for number, question in enumerate(lesson.check, start=1):
        given = answers.get(number)
        facts = [("Answer", question.options[question.right]), ("Why", question.why)]
        if given is not None:
            facts.insert(0, ("You said", question.options[int(given)]))
        questions += [Text(f"{number}. {question.text}"), Items(question.options)]
        questions.append(Facts(tuple(facts)))
    return [
        *found,
        Section("Check yourself", tuple(questions)),
        Section("To remember", (Text(lesson.takeaway),)),
    ]


def _step(
    number: int, step: Step, results: LessonResults, guesses: Given, *, dark: bool
) -> list[Block]:
    blocks: list[Block] = [Text(_plain(part)) for part in step.text.split("\n\n")]
    if step.words:
        blocks.append(Facts(tuple((word, f"{_plain(meaning)}.") for word, meaning in step.words)))
    available = bool(step.figures) and shows(step, results)
    if step.guess is not None:
        facts = [("Question", step.guess.question)]
        if number in guesses and available:
            facts.append(("You", compare(step.guess, guesses[number], results).text))
        blocks.append(Facts(tuple(facts)))
    if not available:
        return blocks
    if step.findings:
        said = [*step.findings(results), *figures.judgements(step, results)]
        blocks.append(Items(tuple(said)))
    for place, figure in enumerate(step.figures):
        if isinstance(figure, Pictures | Played):  # images stay with their data, scenes move
            continue
        drawn, alt, frame = figures.drawn(figure, results, dark=dark)
        title = f"Figure {number}.{place + 1}"
        said = [step.look, *([figures.AGAIN] if noise.drawn(drawn) else [])]
        blocks.append(Picture(f"{number}-{place + 1}", title, " ".join(said), drawn, alt))
        blocks.append(take_home.readable(Table(f"Numbers of figure {number}.{place + 1}", frame)))
    return [*blocks, *([Text(_plain(step.after))] if step.after else [])]


def _plain(text: str) -> str:
    """Text of a lesson without its Markdown marks for bold and slanted type."""
    return text.replace("*", "")
