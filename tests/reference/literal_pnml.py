"""The training procedure of the paper as printed: at every step, label by label.

Every label embeds its positive and its negative instances anew, finds its prototypes row by row
and adds its cross-entropy. What the tests compare the batched training with, and what the
benchmarks measure its speed against.
"""

import math

import torch
from torch.nn import functional

SLOPE = 0.2
CAP = 20
MIN_MASS = 1e-3


class LiteralTraining:
    """Objective and Adam steps for one dense feature matrix.

    ``weight`` (n_features, dim), ``bias`` (dim,) and ``metric`` (n_labels, dim, dim) are copied.
    With an ``interval`` above 1, prototypes are found in one of so many steps, and what goes back
    through them in that step is added to the gradient of each.
    """

    def __init__(
        self,
        X,
        Y,
        weight,
        bias,
        metric,
        *,
        multiple=False,
        concentration=0.1,
        learning_rate=1e-3,
        metric_weight=0.0,
        correlation_weight=0.0,
        interval=1,
    ):
        self.X, self.Y = X, Y
        self.weight, self.bias, self.metric = (
            value.detach().clone().requires_grad_() for value in (weight, bias, metric)
        )
        self.multiple, self.concentration = multiple, concentration
        self.metric_weight, self.correlation_weight = metric_weight, correlation_weight
        self.optimizer = torch.optim.Adam([self.weight, self.bias, self.metric], lr=learning_rate)
        self.interval, self.n_steps, self.held, self.through = interval, 0, {}, []
        # Labels that all or no rows have cannot be learned.
        counts = Y.sum(0)
        self.labels = [k for k in range(Y.shape[1]) if 0 < counts[k] < len(Y)]
        self.correlations = torch.corrcoef(Y[:, self.labels].mT).view(len(self.labels), -1)

    def embed(self, rows):
        return functional.leaky_relu(rows @ self.weight + self.bias, SLOPE)

    def step(self, batch):
        self.optimizer.zero_grad()
        is_due = self.n_steps % self.interval == 0
        self.n_steps += 1
        loss = self.loss(batch, is_due)
        loss.backward()
        if is_due and self.interval > 1:
            self.through = [
                torch.autograd.grad(found, (self.weight, self.bias), seen.grad)
                for found, seen in self.held.values()
            ]
        for of_weight, of_bias in self.through:
            self.weight.grad += of_weight
            self.bias.grad += of_bias
        self.optimizer.step()
        return loss.item()

    def loss(self, batch, is_due):
        """Eq. 13, the cross-entropy averaged over all cells."""
        creation = self.creation_rule() if self.multiple and is_due else None
        queries = self.embed(self.X[batch])
        entropy, positive_means = 0.0, []
        for k in self.labels:
            is_positive = self.Y[:, k] == 1
            if is_due:
                for side, members in ((1, is_positive), (0, ~is_positive)):
                    found = self.prototypes(self.embed(self.X[members]), creation)
                    # Without steps that hold them, one backward pass is all that is printed.
                    seen = found if self.interval == 1 else found.detach().requires_grad_()
                    self.held[k, side] = found, seen
            positives, negatives = (self.held[k, side][1] for side in (1, 0))
            present = self.log_density(queries, positives, k)
            absent = self.log_density(queries, negatives, k)
            probability = torch.sigmoid(present - absent)
            y = self.Y[batch, k]
            entropy = entropy - (y * probability.log() + (1 - y) * (1 - probability).log()).sum()
            positive_means.append(positives.mean(0))
        entropy = entropy / (len(batch) * self.Y.shape[1])
        means = torch.stack(positive_means)
        correlation = ((1 - self.correlations) * (means @ means.mT)).sum() / 2
        penalty = sum((self.metric[k] ** 2).sum() for k in range(len(self.metric)))
        return entropy + self.metric_weight * penalty + self.correlation_weight * correlation

    def log_density(self, queries, prototypes, k):
        """Log of the mean over prototypes of exp(-d) (Eq. 8)."""
        distances = []
        for p in prototypes:
            projected = (queries - p) @ self.metric[k].mT
            distances.append((projected.square().sum(1) + 1e-12).sqrt())
        return torch.logsumexp(-torch.stack(distances), 0) - math.log(len(prototypes))

    def prototypes(self, members, creation):
        """Mean of the members, or the means of as many clusters as they need."""
        if creation is None:
            return members.mean(0, keepdim=True)
        shares = self.assign(members.detach(), *creation)
        return (shares.mT @ members) / shares.sum(0)[:, None]

    @torch.no_grad()
    def assign(self, members, threshold, temperature):
        """Soft assignment of the members after one growth pass (steps 1 to 3 of the paper)."""
        centres = [members.mean(0)]
        for e in members:
            nearest = min(float((e - centre).square().sum()) for centre in centres)
            if nearest > threshold and len(centres) < CAP:
                centres.append(e)
        squares = torch.stack([(members - centre).square().sum(1) for centre in centres], 1)
        shares = torch.softmax(-squares / temperature, 1)
        return shares[:, shares.sum(0) > MIN_MASS]

    @torch.no_grad()
    def creation_rule(self):
        """Threshold (Eq. 7) in the dimensions that the embeddings occupy, and the temperature."""
        embeddings = self.embed(self.X)
        means, scatter, n_members = [], 0.0, 0
        for k in range(self.Y.shape[1]):
            for side in (0, 1):
                members = embeddings[self.Y[:, k] == side]
                if len(members):
                    means.append(members.mean(0))
                    scatter += float((members - means[-1]).square().sum())
                    n_members += len(members)
        spread = float(torch.stack(means).var(0).mean())
        covariance = torch.cov(embeddings.mT)
        occupied = float(covariance.trace() ** 2 / (covariance @ covariance).trace())
        variance = scatter / n_members / occupied
        spread *= embeddings.shape[1] / occupied
        log_odds = occupied / 2 * math.log1p(spread / variance) - math.log(self.concentration)
        return 2 * variance * log_odds, 2 * variance
