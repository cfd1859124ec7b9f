"""An explanation as one HTML page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from protolabel.inspection.explanation import Explanation, LabelExplanation
from protolabel.inspection.text import flip_sentence
from protolabel.report.bars import signed_bars
from protolabel.report.page import Section, render_page


@dataclass(frozen=True)
class LabelPanel:
    """One label with its drawings."""

    label: LabelExplanation
    contributions: Markup
    pulls: Markup
    flip: str
    baseline: str


def explanation_report(explanation: Explanation, *, title: str = "Explanation") -> str:
    """Describe an explanation in one HTML page.

    Parameters
    ----------
    explanation : Explanation
        From :func:`protolabel.inspection.explain`.
    title : str, default="Explanation"
        Head of the page.

    Returns
    -------
    str
        The page, with no part to be loaded from elsewhere.
    """
    sections = [
        Section(f"label-{number}", label.label, "explanation.html", _panel(label, explanation))
        for number, label in enumerate(explanation.labels)
    ]
    subtitle = f"{len(explanation.labels)} of {explanation.n_labels} labels"
    return render_page(title, subtitle, sections)


def _panel(label: LabelExplanation, explanation: Explanation) -> LabelPanel:
    contributions = [(part.learner, part.log_odds) for part in label.contributions]
    contributions += [("intercept", label.intercept), ("log-odds", label.log_odds)]
    pulls = [
        (f"{pull.name} = {f'{pull.value:.4g}'.replace('-', '−')}", pull.pull)
        for pull in label.pulls
    ]
    pulls.append(("all other features", label.other_pulls))
    if label.other_labels:
        pulls.append(("other labels of the row", label.other_labels))
    return LabelPanel(
        label,
        signed_bars(contributions, f"Contributions to the log-odds of {label.label}"),
        signed_bars(pulls, f"Pulls of features on {label.label}"),
        flip_sentence(
            label.flip, is_predicted=label.is_predicted, looked=explanation.looked_for_flips
        ),
        explanation.baseline,
    )
