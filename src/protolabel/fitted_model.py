"""A fitted PNML model: networks, companions and all else that predictions need."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.fusion import Fusion
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.companions.tasks import Companion
from protolabel.decision.decision_rule import DecisionRule
from protolabel.pnml.callbacks import EpochRecord
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.new_labels import network_with_label
from protolabel.pnml.row_scoring import MatrixScorer
from protolabel.pnml.rows import FeatureRows, feature_rows
from protolabel.preprocessing.features import FeatureScaler

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_ROWS_IN_CACHE = 512


@dataclass(frozen=True)
class FittedModel:
    """All that predictions need. Companions keep training rows, scaled, and their labels."""

    network: PrototypeNetwork
    scaler: FeatureScaler
    decision: DecisionRule
    history: tuple[EpochRecord, ...]
    companions: tuple[Companion, ...] = ()
    fusion: Fusion | None = None

    def scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of every label, (n_samples, n_labels)."""
        if self.fusion is None:
            return self._network_scores(X)
        scaled = self._scaled(X)
        logits = self.scorer.scores(scaled)
        others = [companion.scores(scaled) for companion in self.companions]
        if self.network.n_added:
            # Companions do not know the labels that were added after training.
            added = ((0, 0), (0, self.network.n_added))
            others = [np.pad(scores, added) for scores in others]
        return self.fusion.combine([logits, *others])

    def _network_scores(self, X: Matrix) -> np.ndarray:
        """Log-odds by the networks alone: dense rows pass through all steps in the cache."""
        n_rows = X.shape[0]
        if sp.issparse(X) or n_rows <= _ROWS_IN_CACHE:
            return self.scorer.scores(self._scaled(X))
        scores = np.empty((n_rows, self.network.n_labels))
        for start in range(0, n_rows, _ROWS_IN_CACHE):
            part = slice(start, start + _ROWS_IN_CACHE)
            scores[part] = self.scorer.scores(self._scaled(X[part]))
        return scores

    @cached_property
    def scorer(self) -> MatrixScorer:
        """The network prepared for prediction."""
        return MatrixScorer(self.network)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def embeddings(self, X: Matrix) -> np.ndarray:
        """Embeddings of all members side by side, (n_samples, n_members * dim)."""
        embeddings = self.network.embed(self._rows(X))
        return embeddings.transpose(0, 1).flatten(1).cpu().numpy()

    def with_label(self, X_positive: Matrix, X_negative: Matrix | None = None) -> FittedModel:
        """Return a model that knows one more label, from rows with it and rows without it."""
        network = self.network
        if not network.settings.shared_embedding:
            raise ValueError(
                "shared_embedding=False gives every label an embedding of its own, which a few "
                "rows cannot train; add_label needs a model fitted with shared_embedding=True."
            )
        if network.covariance is None:
            raise ValueError(
                "The model was saved by a protolabel that did not keep what add_label needs of "
                "the training rows; fit it again."
            )
        embedded = network.embed(self._rows(X_positive))
        others = None if X_negative is None else network.embed(self._rows(X_negative))
        thresholds, fusion = self.decision.thresholds, self.fusion
        if fusion is not None:
            # The new label has the score of the networks alone, without a share of the prior.
            thresholds = fusion.of_first_learner(thresholds - fusion.shifts)
            thresholds = thresholds[fusion.learned] if fusion.learned.any() else thresholds
            fusion = fusion.with_label()
        return replace(
            self,
            network=network_with_label(network, embedded, others),
            decision=self.decision.with_label(float(np.median(thresholds))),
            fusion=fusion,
        )

    def _rows(self, X: Matrix) -> FeatureRows:
        return feature_rows(self._scaled(X), self.network.positions.device)

    def _scaled(self, X: Matrix) -> Matrix:
        return self.scaler.transform(self.in_trained_form(X))

    def in_trained_form(self, X: Matrix) -> Matrix:
        """Rows as CSR where the model was trained on sparse ones, else as they come."""
        # Only sparse rows have prototype trees; networks alone do not mind the form.
        of_sparse = any(isinstance(companion, PrototypeForest) for companion in self.companions)
        return sp.csr_array(X) if of_sparse and not sp.issparse(X) else X
