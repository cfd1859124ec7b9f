"""Kernel ridge regression on all rows, with every row's value from the fit without it.

With C = K + ridge I, s = C^-1 1 and P = C^-1 - s s' / (1's), the coefficients of the rows are
P y, the intercept is s'y / (1's), and the residual that row i would have without itself is
(P y)_i / P_ii; that of the rows of a group without all of them is the solution of their block of
P. One factorisation of C gives all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from protolabel.companions.kernel_features import LARGEST_LEVERAGE
from protolabel.companions.left_out import solved_by_groups
from protolabel.row_groups import Groups

# A search looks at a ridge and its neighbours, and then asks for the best again.
_SOLUTIONS_KEPT = 3
# With a smaller ridge the factor of a large kernel loses too many digits in single precision.
_SMALLEST_RIDGE_OF_SINGLE_PRECISION = 0.1


@dataclass(frozen=True)
class _Solution:
    coefficients: np.ndarray
    intercept: np.ndarray
    leave_one_out: np.ndarray


class ExactKernel:
    """Regressions of labels on a kernel of all pairs of rows, for one ridge after the other.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        In the precision to compute with. Nothing below its diagonal is read.
    targets : ndarray of shape (n_samples, n_labels)
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.
    of_one_ridge : bool, default=False
        Only one ridge will be asked for: the kernel is not kept for another.
    """

    def __init__(
        self,
        kernel: np.ndarray,
        targets: np.ndarray,
        groups: Groups = None,
        *,
        of_one_ridge: bool = False,
    ) -> None:
        self._kernel: np.ndarray | None = kernel
        self.targets = targets
        self.groups = groups
        self.of_one_ridge = of_one_ridge
        self._solutions: dict[float, _Solution] = {}

    @property
    def kernel(self) -> np.ndarray:
        """The kernel, as long as it is kept."""
        if self._kernel is None:
            raise ValueError("The kernel was used up by the one ridge that it was for.")
        return self._kernel

    def error(self, ridge: float) -> float:
        """Squared error of the leave-one-out values."""
        return float(np.square(self.leave_one_out(ridge) - self.targets).sum(dtype=np.float64))

    def leave_one_out(self, ridge: float) -> np.ndarray:
        """Regression value of each row from the fit without it and its group."""
        return self._solution(ridge).leave_one_out

    def solve(self, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the rows and intercept."""
        found = self._solution(ridge)
        return found.coefficients, found.intercept

    def _solution(self, ridge: float) -> _Solution:
        if ridge not in self._solutions:
            if len(self._solutions) == _SOLUTIONS_KEPT:
                self._solutions.pop(next(iter(self._solutions)))
            self._solutions[ridge] = self._solve(ridge)
        return self._solutions[ridge]

    def _solve(self, ridge: float) -> _Solution:
        small = ridge < _SMALLEST_RIDGE_OF_SINGLE_PRECISION
        # Turned, a symmetric matrix is itself, and lies as LAPACK wants it.
        copy = None if self.of_one_ridge else True
        system = np.array(self.kernel.T, np.float64 if small else None, copy=copy, order="F")
        if self.of_one_ridge:
            self._kernel = None
        system[np.diag_indices_from(system)] += ridge
        root = _inverse_root(system)
        right = np.ones((len(root), self.targets.shape[1] + 1), root.dtype, order="F")
        right[:, :-1] = self.targets
        # Half of the products are with zeros, and those of NumPy would wake threads of their own
        # beside those of SciPy, which still wait for work.
        multiply = blas.get_blas_funcs("trmm", (root,))
        on_root = multiply(1.0, root, right, lower=True, overwrite_b=True)
        solved = multiply(1.0, root, on_root, lower=True, trans_a=True, overwrite_b=True)
        solved = solved.astype(np.float64)
        by_targets, by_ones = solved[:, :-1], solved[:, -1]
        total = by_ones.sum()
        intercept = by_ones @ self.targets / total
        coefficients = by_targets - np.outer(by_ones, intercept)
        smallest = (1 - LARGEST_LEVERAGE) / ridge
        if self.groups is not None:

            def blocks(rows: np.ndarray) -> np.ndarray:
                columns, ones = root.T[rows], by_ones[rows]
                products = (columns @ columns.mT).astype(np.float64)
                return np.asarray(products - ones[:, :, None] * ones[:, None, :] / total)

            residuals = solved_by_groups(self.groups, blocks, coefficients, smallest, len(root))
        else:
            own = np.einsum("ij,ij->j", root, root, dtype=np.float64) - np.square(by_ones) / total
            residuals = coefficients / np.maximum(own, smallest)[:, None]
        return _Solution(coefficients, intercept, self.targets - residuals)


def _inverse_root(system: np.ndarray) -> np.ndarray:
    """Lower triangular R with R'R the inverse of a positive definite matrix, made in its place."""
    factorise, invert = lapack.get_lapack_funcs(("potrf", "trtri"), (system,))
    root, failed = factorise(system, lower=True, clean=True, overwrite_a=True)
    if failed == 0:
        root, failed = invert(root, lower=True, overwrite_c=True)
    if failed:
        raise np.linalg.LinAlgError(f"LAPACK ended with {failed}: the kernel is not positive.")
    return np.asarray(root)
