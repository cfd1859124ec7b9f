import subprocess
import sys

import pytest
import torch
from torch import nn

from protolabel.pnml.optimisation import Adam, ParameterGroup


def parameters(seed=0, dtype=torch.float32):
    g = torch.Generator().manual_seed(seed)
    shapes = [(7, 3), (2, 1, 5), (3,)]
    return [nn.Parameter(torch.randn(shape, generator=g).to(dtype)) for shape in shapes]


def give_gradients(params, step):
    g = torch.Generator().manual_seed(step)
    for number, parameter in enumerate(params):
        # The second parameter has no gradient in some steps.
        skipped = number == 1 and step % 3 == 0
        drawn = torch.randn(parameter.shape, generator=g).to(parameter.dtype)
        parameter.grad = None if skipped else drawn


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_equal_those_of_the_fused_adam_of_torch(dtype):
    ours, theirs = parameters(dtype=dtype), parameters(dtype=dtype)
    own = Adam([ParameterGroup(ours[:2]), ParameterGroup(ours[2:], 0.3)], 0.01)
    reference = torch.optim.Adam(
        [{"params": theirs[:2]}, {"params": theirs[2:], "weight_decay": 0.3}], lr=0.01, fused=True
    )
    for step in range(10):
        own.learning_rate = 0.01 / (step + 1)
        for group in reference.param_groups:
            group["lr"] = 0.01 / (step + 1)
        give_gradients(ours, step)
        give_gradients(theirs, step)
        own.step()
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        assert torch.equal(a, b)


def test_the_state_has_the_names_and_numbers_of_torch():
    """Checkpoints written with torch's optimiser stay readable."""
    ours, theirs = parameters(), parameters()
    own, reference = Adam([ParameterGroup(ours)], 0.01), torch.optim.Adam(theirs, 0.01, fused=True)
    for step in range(1, 3):
        give_gradients(ours, step)
        give_gradients(theirs, step)
        own.step()
        reference.step()
    expected = {
        f"{number}.{name}": value
        for number, state in reference.state_dict()["state"].items()
        for name, value in state.items()
    }
    assert own.state().keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in own.state().items())


def test_a_loaded_state_continues_as_if_never_stopped():
    whole, stopped = parameters(), parameters()
    first, before = Adam([ParameterGroup(whole)], 0.1), Adam([ParameterGroup(stopped)], 0.1)
    for step in range(1, 3):
        for params, optimiser in ((whole, first), (stopped, before)):
            give_gradients(params, step)
            optimiser.step()
    after = Adam([ParameterGroup(stopped)], 0.1)
    after.load_state({name: value.clone() for name, value in before.state().items()})
    for params, optimiser in ((whole, first), (stopped, after)):
        give_gradients(params, 3)
        optimiser.step()
    assert all(torch.equal(a, b) for a, b in zip(whole, stopped, strict=True))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"0.step": torch.zeros(2)}, "has the shape"),
        ({"0.exp_avg": torch.zeros(7, 3)}, "moments of a parameter are"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(state, message):
    with pytest.raises(ValueError, match=message):
        Adam([ParameterGroup(parameters())], 0.1).load_state(state)


def test_training_does_not_load_the_compiler_of_torch():
    code = (
        "import sys, numpy as np\n"
        "from protolabel import PNMLClassifier\n"
        "X = np.random.default_rng(0).normal(size=(40, 5))\n"
        "Y = (X[:, :2] > 0).astype(int)\n"
        "PNMLClassifier.paper(max_epochs=2, random_state=0).fit(X, Y)\n"
        "print('torch._dynamo' in sys.modules)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"
