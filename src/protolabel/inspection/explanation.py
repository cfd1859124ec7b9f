"""What an explanation consists of; every figure in it can be checked against the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Contribution:
    """What one learner, or the sets of labels, adds to the log-odds: a score times its weight."""

    learner: str
    score: float
    weight: float

    @property
    def log_odds(self) -> float:
        """The addend."""
        return self.weight * self.score


@dataclass(frozen=True)
class PrototypeDistance:
    """One prototype as a row sees it.

    Parameters
    ----------
    number : int
        Position among the prototypes of its side of the label.
    distance : float
        In the metric of the label, as it enters the log-odds.
    weight : float
        Mixing weight.
    nearest_rows : tuple of int, default=()
        Training rows closest to the prototype, where training rows were given.
    """

    number: int
    distance: float
    weight: float
    nearest_rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class MemberView:
    """The prototypes of a label in one network, nearest first, and what follows from them."""

    member: int
    prior_log_odds: float
    positive: tuple[PrototypeDistance, ...]
    negative: tuple[PrototypeDistance, ...]

    @property
    def log_odds(self) -> float:
        """Log-odds from the distances alone (Eq. 8).

        Examples
        --------
        >>> near, far = PrototypeDistance(0, 1.0, 1.0), PrototypeDistance(0, 3.0, 1.0)
        >>> MemberView(0, 0.5, positive=(near,), negative=(far,)).log_odds
        2.5
        """
        return self.prior_log_odds + _log_density(self.positive) - _log_density(self.negative)


@dataclass(frozen=True)
class FeaturePull:
    """What a feature adds to the log-odds by having its value and not that of the baseline."""

    feature: int
    name: str
    value: float
    baseline: float
    pull: float


@dataclass(frozen=True)
class Change:
    """Another value of a feature."""

    feature: int
    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Flip:
    """Changes after which the model decides otherwise, and what it then says."""

    changes: tuple[Change, ...]
    log_odds: float
    probability: float


@dataclass(frozen=True)
class LabelExplanation:
    """Why a label has its probability.

    Parameters
    ----------
    label : str
        Name of the label.
    log_odds, probability : float
        What the model says.
    threshold : float
        Log-odds that the label has to exceed in this row.
    is_predicted : bool
        Whether it is.
    intercept : float
        Log-odds that no learner brings.
    contributions : tuple of Contribution
        With the intercept they add up to the log-odds.
    members : tuple of MemberView
        Networks that know the label; the mean of their log-odds is the score of the networks.
    pulls : tuple of FeaturePull
        Strongest features first.
    other_pulls : float
        Sum over all features that are not listed.
    other_labels : float
        What the other labels of the row add, by the sets that rows have, beyond what they add at
        the baseline.
    baseline_log_odds : float
        What the model says of the baseline.
    flip : Flip or None
        A small change that turns the decision, None where none was found or looked for.
    """

    label: str
    log_odds: float
    probability: float
    threshold: float
    is_predicted: bool
    intercept: float
    contributions: tuple[Contribution, ...]
    members: tuple[MemberView, ...]
    pulls: tuple[FeaturePull, ...]
    other_pulls: float
    other_labels: float
    baseline_log_odds: float
    flip: Flip | None

    @property
    def unexplained(self) -> float:
        """Log-odds beyond the baseline that the pulls miss, by their numerical integration."""
        pulls = sum(pull.pull for pull in self.pulls) + self.other_pulls + self.other_labels
        return self.log_odds - self.baseline_log_odds - pulls


@dataclass(frozen=True)
class Explanation:
    """Explanations of some labels of one row.

    Parameters
    ----------
    labels : tuple of LabelExplanation
        The labels asked for, or the most probable ones.
    n_labels : int
        Labels of the model.
    baseline : str
        What features are compared with.
    looked_for_flips : bool
        Whether a label without a flip has none that was found.
    """

    labels: tuple[LabelExplanation, ...]
    n_labels: int
    baseline: str
    looked_for_flips: bool

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, with the figures that follow from others."""
        value = asdict(self)
        for plain, label in zip(value["labels"], self.labels, strict=True):
            plain["unexplained"] = label.unexplained
            for part, contribution in zip(plain["contributions"], label.contributions, strict=True):
                part["log_odds"] = contribution.log_odds
            for part, member in zip(plain["members"], label.members, strict=True):
                part["log_odds"] = member.log_odds
        return value


def _log_density(prototypes: Sequence[PrototypeDistance]) -> float:
    """Logarithm of the sum of weighted exponentials, safe for large distances."""
    terms = [math.log(p.weight) - p.distance for p in prototypes]
    largest = max(terms)
    return largest + math.log(sum(math.exp(term - largest) for term in terms))
