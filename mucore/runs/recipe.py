"""How the original and the retrained model are trained: the recipe, and its presets with
changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from mucore import catalog
from mucore.errors import BadValue, UnknownName, said
from mucore.runs.preprocess import USUAL, canonical

# Of every recipe that is made from now on. It goes up when trainings are computed otherwise, so
# that results can move within their last digits; earlier results stay what they are, under theirs.
REVISION = 2


class Recipe(BaseModel):
    """How the original and the retrained model are trained (MUBox: one recipe for both)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(ge=0, le=2000)
    batch_size: int = Field(ge=1, le=8192)
    lr: float = Field(gt=0, le=100)
    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = Field(default=0.9, ge=0, lt=1)
    nesterov: bool = True
    weight_decay: float = Field(default=5e-4, ge=0, le=1)
    schedule: Literal["constant", "cosine", "onecycle", "step"] = "cosine"
    # fp32 gives the reference numbers; auto takes what is faster on the device.
    precision: Literal["fp32", "bf16", "auto"] = "fp32"
    # Fields from here on came after results existed: they are written only where they differ from
    # their default, so that keys stay.
    # epochs after which "step" divides the rate by ten; half and three quarters where none is given
    milestones: tuple[int, ...] = ()
    # test: for papers that train on everything; see datasets/cut.py
    validation_from: Literal["training", "test"] = "training"
    # only the first so many training samples of each class; 0 for all
    per_class: int = Field(default=0, ge=0)
    greyscale: bool = False
    # loss weights N / (C n_c) from the training labels, for the original, Retrain and their records
    class_weights: bool = False
    # false: no crop and flip although the data set allows it, for every training and method of the
    # run
    augment: bool = True
    # start from pretrained weights, see models/pretrained.py; the head starts anew
    pretrained: bool = False
    # what pixels become for every network: "mucore", normalised by the training pixels' mean and
    # deviation; "0..1"; "-1..1"; "MEAN/STD" of pixels in 0..1, one number a channel
    preprocess: Annotated[str, BeforeValidator(canonical)] = USUAL
    # 1: convolutions keep their weights as they are written, (out, in, h, w), as up to mucore 0.2;
    # 2: with the channels innermost in memory, which computes the same in less time
    revision: int = Field(default=1, ge=1, le=REVISION)

    @field_validator("milestones", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return (
            [each for each in value.replace(";", ",").split(",") if each.strip()]
            if isinstance(value, str)
            else value
        )

    @model_serializer(mode="wrap")
    def _without_newer_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = list(type(self).model_fields.items())
        newer = dict(fields[[name for name, _ in fields].index("precision") + 1 :])
        return {
            name: value
            for name, value in handler(self).items()
            if name not in newer or getattr(self, name) != newer[name].default
        }

    def cut(self) -> dict[str, Any]:
        """How the data set is divided before training: what `datasets.load` takes besides the
        name.
        """
        names = ("validation_from", "per_class", "greyscale", "preprocess")
        return {name: getattr(self, name) for name in names}


def make_recipe(preset: str, changes: Mapping[str, Any] | None = None) -> Recipe:
    """The recipe of a preset with `changes` applied, of the newest revision unless they name one.
    Raises `UnknownName`, `BadValue`.
    """
    values = {"revision": REVISION, **catalog.preset(preset).recipe, **(changes or {})}
    for name in set(values) - set(Recipe.model_fields):
        raise UnknownName("field of a recipe", name, Recipe.model_fields)
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise BadValue(first_problem("recipe: ", error)) from None


# The rules that people break most, by pydantic's names; its own sentences are for programmers.
_RULES = {
    "greater_than_equal": "must be at least {ge:,g}",
    "greater_than": "must be above {gt:,g}",
    "less_than_equal": "must be at most {le:,g}",
    "less_than": "must be below {lt:,g}",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("string_type", "path_type"), "must be a text"),
    "list_type": "must be a list",
    "dict_type": "must map names to values",
    "too_short": "needs a value at least",
    "too_long": "may have {max_length:,} values at most",
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false"),
    "literal_error": "must be {expected}",
    "value_error": "{error}",
}


def first_problem(owner: str, error: ValidationError) -> str:
    """The first of the fields that a model refused, why, and the value that it got."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    rule = _RULES.get(problem["type"])
    why = f": {problem['msg']}" if rule is None else f" {rule.format(**problem.get('ctx', {}))}"
    return f"{owner}{where}{why}, but got {said(problem['input'])}."
