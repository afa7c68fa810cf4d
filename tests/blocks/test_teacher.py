"""What a teacher said is said once."""

from __future__ import annotations

import pytest
import torch
import toy

from mucore.blocks.teacher import Teacher
from mucore.engine.run import Run
from mucore.engine.state import frozen_copy, state_bytes


@pytest.mark.parametrize("augment", [False, True])
@pytest.mark.parametrize("natural", [False, True])
def test_a_teacher_repeats_what_the_network_said_before_it_moved(augment: bool, natural: bool):
    data, model = toy.request("conv", "random", natural=natural), toy.original("conv")
    sets, run = (data.forget, data.retain), Run(seed=0)
    network = frozen_copy(model)
    teacher = Teacher(model, *sets, classes=data.classes, augment=augment)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    for _ in range(2):
        for samples in sets:
            for batch in samples.batches(run, 50, augment=augment, shuffle=True):
                assert torch.allclose(teacher(batch), network(batch.x), atol=1e-5)
    same = not (augment and natural)
    assert teacher.keeps == same and (teacher.network is None) == same


def test_a_teacher_asks_for_what_is_new_in_a_batch_alone():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    teacher = Teacher(model, data.forget, classes=data.classes)
    asked: list[int] = []
    assert teacher.network is not None
    teacher.network.register_forward_pre_hook(lambda _, inputs: asked.append(len(inputs[0])))
    (few,) = data.forget[torch.arange(10)].batches(Run(seed=0), 100)
    (more,) = data.forget[torch.arange(40)].batches(Run(seed=0), 100)
    teacher(few)
    assert torch.allclose(teacher(more), frozen_copy(model)(more.x), atol=1e-5)
    teacher(more)
    assert asked == [10, 30]


def test_logits_that_are_larger_than_the_network_are_not_kept():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    (batch,) = data.forget.batches(Run(seed=0), 1000)
    count = state_bytes(model) // 4 + 1
    teacher = Teacher(model, data.forget, classes=count, told=True)
    teacher.learn(batch, model(batch.x) + 1)
    assert not teacher.keeps and teacher.bytes == state_bytes(model)
    assert torch.equal(teacher(batch), model(batch.x))


def test_a_teacher_that_is_told_everything_needs_no_network():
    data, model = toy.request("mlp", "random"), toy.original("mlp").eval()
    teacher = Teacher(model, data.forget, classes=data.classes, told=True)
    assert teacher.network is None
    assert teacher.bytes == 4 * data.classes * len(data.forget)
    (batch,) = data.forget.batches(Run(seed=0), 5000, shuffle=True)
    (again,) = data.forget.batches(Run(seed=0), 5000)
    said = model(batch.x)
    teacher.learn(batch, said)
    assert torch.equal(teacher(batch), said)
    assert torch.equal(teacher(again), said[batch.ids.argsort()])
