"""The error of matrices that a decomposition or a solution does not exist for.

Apart from `support.errors`, since its base class needs NumPy, which `import twofold` does not load.
"""

from __future__ import annotations

import numpy as np

from twofold.support.errors import TwofoldError


class LinAlgError(TwofoldError, np.linalg.LinAlgError, RuntimeError):
    """A singular or not positive-definite matrix, or one for which an algorithm did not converge; names the element of the batch.

    `numpy.linalg.LinAlgError` (a ValueError) and RuntimeError, which PyTorch's `torch.linalg.LinAlgError` derives from.
    """
