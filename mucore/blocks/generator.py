"""Images from a network that learns to make them: the generator, and batches of its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Source, sent
from mucore.engine.features import activations, attention_map
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run

WIDE, NARROW = 128, 64
# The role under which made-up images are counted as they pass a network that predicts.
MADE_UP = "made_up"


class Generator(nn.Module):
    """Latents (n, latent) to normalised images (n, *shape).

    A linear layer, two doublings with a convolution each, batch norm at the end. Of the zero-shot
    knowledge transfer of Micaelli and Storkey, NeurIPS 2019. The weights are drawn from `seed`
    alone.
    """

    def __init__(self, latent: int, shape: tuple[int, int, int], seed: int):
        super().__init__()
        channels, height, width = shape
        self.shape = shape
        # rounded up; what is too much is cut off at the end
        self.start = -(-height // 4), -(-width // 4)
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(seed)
            self.project = nn.Linear(latent, WIDE * self.start[0] * self.start[1])
            self.draw = nn.Sequential(
                nn.BatchNorm2d(WIDE),
                Doubled(WIDE, WIDE),
                nn.BatchNorm2d(WIDE),
                nn.LeakyReLU(0.2, inplace=True),
                Doubled(WIDE, NARROW),
                nn.BatchNorm2d(NARROW),
                nn.LeakyReLU(0.2, inplace=True),
                nn.Conv2d(NARROW, channels, 3, padding=1),
                nn.BatchNorm2d(channels),
            )

    def forward(self, z: Tensor) -> Tensor:
        _, height, width = self.shape
        # channels_last takes a third off a step on a CPU.
        start = (
            self.project(z)
            .view(len(z), WIDE, *self.start)
            .contiguous(memory_format=torch.channels_last)
        )
        return self.draw(start)[:, :, :height, :width]


class Doubled(nn.Conv2d):
    """A 3x3 convolution of an image whose pixels are repeated twice each way, without making that
    image: (n, c, h, w) to (n, out, 2h, 2w).

    Two of the three pixels that a row of the kernel meets there are the same one, so it is a row of
    two on the small image, one for even and one for odd positions: 16 multiplications instead of 36
    for four pixels (Odena, Dumoulin & Olah, Deconvolution and Checkerboard Artifacts, 2016, for the
    layer; Shi et al., 2016, for the interleaved small convolutions).
    """

    # [position, tap, place in the row of three]
    FOLD = (((1.0, 0.0, 0.0), (0.0, 1.0, 1.0)), ((1.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__(in_channels, out_channels, 3, padding=1)

    def forward(self, input: Tensor) -> Tensor:
        assert self.bias is not None
        fold = self.weight.new_tensor(self.FOLD)
        kernels = torch.einsum("ayr,bxs,oirs->aboiyx", fold, fold, self.weight).flatten(0, 2)
        kernels = kernels.contiguous(memory_format=torch.channels_last)
        parts = nn.functional.conv2d(input, kernels, self.bias.repeat(4), padding=1)
        # a window of two by two at the top left of a pixel serves even positions, one further on
        # odd ones
        height, width = input.shape[2:]
        four = zip(parts.chunk(4, 1), ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True)
        quarters = [each[:, :, y : y + height, x : x + width] for each, (y, x) in four]
        image = nn.functional.pixel_shuffle(torch.stack(quarters, 2).flatten(1, 2), 2)
        return image.contiguous(memory_format=torch.channels_last)


@dataclass(frozen=True)
class Latents(Source):
    """`count` batches of N(0, 1) noise from stream `latent`, each `times` times in a row.

    `Batch.part` says which time it is. They stand where a data set would: a batch's `x` is (batch
    size, size), its labels are zero and its ids are below zero.
    """

    size: int
    count: int
    times: int

    def steps(self, batch_size: int, *, skip_single: bool = False) -> int:
        return self.count * self.times

    def batches(self, run: Run, batch_size: int, **options: bool) -> Iterator[Batch]:
        for _ in range(self.count):
            z = sent(torch.randn(batch_size, self.size, generator=run.rng("latent")), run.device)
            labels = torch.zeros(batch_size, dtype=torch.int64, device=run.device)
            for time in range(self.times):
                yield Batch(z, labels, torch.full((batch_size,), -1), torch.full_like(labels, time))


class Game:
    """A student and a generator against each other, before a frozen teacher and a gate (GKT).

    Zero-shot knowledge transfer behind a band-pass gate. The gate lets through made-up images to
    which the teacher gives each of the classes `forgotten` a probability of at most `epsilon`. A
    batch with fewer than two of them is missed: nobody moves, since batch norm could not even read
    it. What passes through teacher and student is counted in `run` as `MADE_UP`.
    """

    def __init__(
        self,
        teacher: nn.Module,
        student: nn.Module,
        generator: Generator,
        forgotten: Sequence[int],
        epsilon: float,
        run: Run,
    ):
        self.run = run
        self.teacher, self.student, self.generator = teacher, student, generator
        self.forgotten, self.epsilon = list(forgotten), epsilon
        self.learner: nn.Module | None = None
        # latents, images kept, what the teacher says of them, and its attention maps
        self._lesson: tuple[Tensor, ...] = ()
        self._made = self._kept = 0

    def gate(self, said: Tensor) -> Tensor:
        """(n,) bool: which images may pass, from the teacher's probabilities (n, C)."""
        return (said[:, self.forgotten] <= self.epsilon).all(1)

    def seek(self, z: Tensor) -> Tensor:
        """The generator's loss: minus the student's divergence, a mean over samples and classes."""
        x = self.generator(z)
        said = torch.softmax(self.teacher(x).float(), 1)
        passed = self._count(self.gate(said.detach()))
        self.run.count_reads(MADE_UP, len(x), backward=passed is not None)
        if passed is None:
            return self._nothing()
        self.run.count_reads(MADE_UP, len(passed), backward=True)
        self.learner = self.generator
        self.student.requires_grad_(False)  # nobody asks for its gradients here
        answer = self.student(x[passed]).float()
        self.student.requires_grad_(True)
        return -soft_divergence(answer, said[passed], 1.0, reduction="element_mean")

    def learn(self, z: Tensor, beta: float) -> Tensor:
        """The student's loss: the divergence, and `beta` times the squared difference of the
        attention maps of all stages.
        """
        # all steps on the same latents see the same images, as nothing else moves
        if not self._lesson or self._lesson[0] is not z:
            with torch.no_grad(), activations(self.teacher) as seen:
                x = self.generator(z)
                said = torch.softmax(self.teacher(x).float(), 1)
            self.run.count_reads(MADE_UP, len(x), backward=False)
            passed = self._count(self.gate(said))
            kept = torch.zeros(0, dtype=torch.int64, device=z.device) if passed is None else passed
            self._lesson = (
                z,
                x[kept],
                said[kept],
                *(attention_map(activation)[kept] for activation in seen),
            )
        _, x, said, *maps = self._lesson
        if not len(x):
            return self._nothing()
        self.learner = self.student
        self.run.count_reads(MADE_UP, len(x), backward=True)
        with activations(self.student) as seen:
            divergence = soft_divergence(
                self.student(x).float(), said, 1.0, reduction="element_mean"
            )
        return divergence + beta * sum(
            nn.functional.mse_loss(attention_map(own), wanted)
            for own, wanted in zip(seen, maps, strict=True)
        )

    def one_at_a_time(self, model: nn.Module) -> None:
        """For `fit`: drop the gradients of whoever is not learning; an optimiser leaves weights
        without a gradient alone.
        """
        for network in (self.student, self.generator):
            if network is not self.learner:
                network.zero_grad(set_to_none=True)

    @torch.no_grad()
    def compare(self, z: Tensor) -> tuple[float, float]:
        """Share of gated images that student and teacher call the same, and the student's mean
        probability of a forgotten class on all.
        """
        x = self.generator(z)
        self.run.count_reads(MADE_UP, 2 * len(x), backward=False)
        said = torch.softmax(self.teacher(x).float(), 1)
        answer = torch.softmax(self.student.eval()(x).float(), 1)
        agree = (said.argmax(1) == answer.argmax(1))[self.gate(said)].float().mean()
        return agree.item(), answer[:, self.forgotten].mean().item()

    def kept_share(self) -> float:
        """Share of all images made that passed the gate, in 0..1."""
        return self._kept / max(self._made, 1)

    def _count(self, passed: Tensor) -> Tensor | None:
        """Positions (m,) of the images that passed; None for fewer than two."""
        kept = passed.nonzero().flatten()
        self._made += len(passed)
        self._kept += len(kept)
        return kept if len(kept) > 1 else None

    def _nothing(self) -> Tensor:
        """A loss from which nobody learns."""
        self.learner = None
        return next(self.student.parameters()).sum() * 0.0
