"""What a reader takes home of a lesson: its steps with their figures, what the reader predicted and
what came of it, and the questions with their answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard import state
from dashboard.lessons.records import Lesson, Step
from dashboard.lessons.results import LessonResults
from dashboard.lessons.values import Reading, compare
from dashboard.report import Block, Facts, Items, Picture, Section, Table, Text
from dashboard.sections.lessons import figures
from dashboard.text import verdicts
from dashboard.widgets import take_home

Given = Mapping[int, float | str]  # by the number of the step, or of the question


def offer(lesson: Lesson, results: LessonResults) -> None:
    """The file of this page is the lesson; what the reader said is read now."""
    name, dark = f"lesson:{lesson.id}", state.dark()
    guesses = {number: state.ticket(f"{name}:{number}:guess") for number in range(1, lesson.length)}
    places = range(1, len(lesson.check) + 1)
    answers = {number: state.ticket(f"{name}:check:{number}") for number in places}
    take_home.instead(lambda: sections(lesson, results, guesses, answers, dark=dark))


def sections(
    lesson: Lesson, results: LessonResults, guesses: Given, answers: Given, *, dark: bool
) -> Sequence[Section]:
    found = [
        Section(step.title, tuple(_step(number, step, results, guesses.get(number), dark=dark)))
        for number, step in enumerate(lesson.steps, start=1)
    ]
    questions: list[Block] = []
    for number, question in enumerate(lesson.check, start=1):
        facts = [("Answer", question.options[question.right]), ("Why", question.why)]
        if (given := answers.get(number)) is not None:
            facts.insert(0, ("You said", question.options[int(given)]))
        questions += [Text(f"{number}. {question.text}"), Items(question.options)]
        questions.append(Facts(tuple(facts)))
    return [
        *found,
        Section("Check yourself", tuple(questions)),
        Section("To remember", (Text(lesson.takeaway),)),
    ]


def _step(
    number: int, step: Step, results: LessonResults, given: float | str | None, *, dark: bool
) -> list[Block]:
    blocks: list[Block] = [*_texts(step.text), *_texts(step.words)]
    shown = bool(step.figures) and step.shown(results)
    if step.guess is not None:
        facts = [("Question", step.guess.ask)]
        if given is not None and shown:
            facts.append(("You", compare(step.guess, given, results).text))
        blocks.append(Facts(tuple(facts)))
    if not shown:
        return blocks
    blocks.append(Items(tuple(Reading(results, step.guess).sentences(step))))
    for named in figures.judgements(step, results).values():
        blocks.append(Facts(tuple((title, verdicts.text(each)) for title, each in named.items())))
    for place, figure in enumerate(step.figures, start=1):
        if figure.kind in ("pictures", "scene"):  # images stay with their data, scenes move
            continue
        drawn, alt = figures.drawn(figure, step, results, dark=dark)
        frame = figures.numbers(figure, results)
        name = f"{number}-{place}"
        blocks.append(Picture(name, f"Figure {number}.{place}", step.see, drawn, alt))
        blocks.append(take_home.readable(Table(f"Numbers of figure {number}.{place}", frame)))
    return [*blocks, *_texts(step.say)]


def _texts(text: str) -> list[Text]:
    """The paragraphs of a lesson's text without its Markdown marks for bold and slanted type."""
    return [Text(part) for part in text.replace("*", "").split("\n\n") if part]
