"""One small network that learned from the whole, to predict in its place.

Networks and companions together are accurate, but a prediction compares a row with thousands of
training rows and walks hundreds of trees. A student, a single network, learns from the labels and,
in equal parts, from what the whole says of each row without having seen it (Hinton, Vinyals and
Dean 2015). Its distances are squared and its prototypes single, so that its log-odds are linear in
the embedding: it predicts like a perceptron of one hidden layer, and keeps no training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from scipy.special import expit

from protolabel.pnml.callbacks import Callback, EpochRecord
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.soft_targets import SoftTargets
from protolabel.pnml.trainer import Trainer, TrainingData

_SHARE_OF_SCORES = 0.5
_WIDTH = 128
_BATCH = 128
_LEARNING_RATE = 3e-3
# A single network, of which a step costs little, learns longer than those of the whole: so many
# times their epochs, but of many rows no more than it sees anyway in a few.
_TIMES_THE_EPOCHS = 4
_MOST_ROWS_SEEN = 600_000


def student_settings(settings: PNMLSettings, n_rows: int) -> PNMLSettings:
    """Settings of a student of networks with these settings, trained on so many rows.

    Dropout, class prior and the like are theirs; its form is that of a perceptron.
    """
    rank = settings.metric_rank
    most_epochs = max(_MOST_ROWS_SEEN // n_rows, settings.max_epochs)
    return replace(
        settings,
        prototypes="single",
        prototype_update="stale",
        prototype_interval=1,
        squared_distance=True,
        metric="mahalanobis",
        metric_rank=None if rank is None else min(rank, _WIDTH),
        embedding_dim=_WIDTH,
        hidden_dim=None,
        negative_slope=0.0,
        shared_embedding=True,
        support_size=None,
        leave_one_out=False,
        correlation_penalty=0.0,
        batch_size=_BATCH,
        learning_rate=_LEARNING_RATE,
        max_epochs=min(_TIMES_THE_EPOCHS * settings.max_epochs, most_epochs),
        n_iter_no_change=_TIMES_THE_EPOCHS * settings.n_iter_no_change,
    )


def train_student(
    data: TrainingData,
    settings: PNMLSettings,
    seed: int,
    callbacks: Sequence[Callback] = (),
    scores: np.ndarray | None = None,
    judged: np.ndarray | slice = slice(None),
) -> tuple[PrototypeNetwork, tuple[EpochRecord, ...]]:
    """Train a student, and tell the losses of its epochs.

    Parameters
    ----------
    data : TrainingData
        Rows and labels that the whole was trained on.
    settings : PNMLSettings
        Of the student.
    seed : int
    callbacks : sequence of Callback, default=()
    scores : ndarray of shape (n_judged, n_labels) or None, default=None
        Log-odds by models that had not seen the row; None to learn from labels alone.
    judged : ndarray of int or slice, default=slice(None)
        Rows that the scores are of.
    """
    n_rows, device = data.rows.n_rows, data.row_weights.device
    soft = None
    if scores is not None:
        place = np.full(n_rows, -1)
        place[judged] = np.arange(len(scores))
        said = torch.from_numpy(expit(scores).astype(np.float32))
        soft = SoftTargets(said.to(device), torch.from_numpy(place).to(device), _SHARE_OF_SCORES)
    # Start weights are drawn on the CPU, so that they do not depend on the device.
    network = PrototypeNetwork(
        n_features=data.rows.n_features,
        n_labels=data.labels.shape[1],
        settings=settings,
        n_members=1,
        generator=torch.Generator().manual_seed(seed),
    ).to(device)
    data = replace(
        data,
        row_weights=torch.ones(1, n_rows, device=device, dtype=torch.float32),
        soft_targets=soft,
    )
    generator = torch.Generator(device).manual_seed(seed + 1)
    return network, Trainer(network, data, generator, callbacks).fit()
