"""An explanation as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from protolabel.inspection.explanation import Explanation, Flip, LabelExplanation, MemberView


def explanation_text(explanation: Explanation) -> str:
    """Describe an explanation in lines for a terminal.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    str
        Names are shown without control characters.

    Examples
    --------
    >>> explanation_text(Explanation((), n_labels=3, baseline="zero", looked_for_flips=False))
    '0 of 3 labels.'
    """
    lines = [f"{len(explanation.labels)} of {explanation.n_labels} labels."]
    for label in explanation.labels:
        lines += ["", *_label_lines(label, explanation)]
    return "\n".join(lines)


def flip_sentence(flip: Flip | None, *, is_predicted: bool, looked: bool) -> str:
    """What would have to change, in words.

    Examples
    --------
    >>> flip_sentence(None, is_predicted=True, looked=True)
    'No small change was found that takes the label away.'
    """
    effect = "takes the label away" if is_predicted else "gives the label"
    if flip is None:
        return f"No small change was found that {effect}." if looked else ""
    changes = ", ".join(
        f"{printable(c.name)} from {c.before:.4g} to {c.after:.6g}" for c in flip.changes
    )
    return f"A change that {effect}: {changes} (probability then {flip.probability:.3f})."


def printable(name: str) -> str:
    """A name without control characters, which could steer a terminal.

    Examples
    --------
    >>> printable("red" + chr(27) + "[31m") == "red" + chr(0xFFFD) + "[31m"
    True
    """
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name
    )


def _label_lines(label: LabelExplanation, explanation: Explanation) -> Iterator[str]:
    verdict = "predicted" if label.is_predicted else "not predicted"
    yield (
        f"{printable(label.label)}: probability {label.probability:.3f}, {verdict} "
        f"(log-odds {label.log_odds:+.3f}, threshold {label.threshold:+.3f})"
    )
    parts = [f"{part.learner} {part.log_odds:+.3f}" for part in label.contributions]
    yield f"  log-odds = {' '.join(parts)} intercept {label.intercept:+.3f}"
    for member in label.members:
        yield f"  network {member.member}: {_member_text(member)}"
    if label.pulls:
        yield f"  against the {explanation.baseline} ({label.baseline_log_odds:+.3f}):"
        for pull in label.pulls:
            yield (
                f"    {pull.pull:+.3f}  {printable(pull.name)} = {pull.value:.4g} "
                f"instead of {pull.baseline:.4g}"
            )
        yield f"    {label.other_pulls:+.3f}  all other features"
        if label.other_labels:
            yield f"    {label.other_labels:+.3f}  other labels of the row"
    sentence = flip_sentence(
        label.flip, is_predicted=label.is_predicted, looked=explanation.looked_for_flips
    )
    if sentence:
        yield f"  {sentence}"


def _member_text(member: MemberView) -> str:
    sides = []
    for name, prototypes in (("positive", member.positive), ("negative", member.negative)):
        nearest = prototypes[0]
        rows = "".join(f" {row}" for row in nearest.nearest_rows)
        sides.append(
            f"nearest {name} prototype at {nearest.distance:.3f}, one of {len(prototypes)}"
            + (f" (near training rows{rows})" if rows else "")
        )
    return f"{'; '.join(sides)}; log-odds {member.log_odds:+.3f}"
