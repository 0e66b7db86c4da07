"""The functions of `special`, under the names of `torch.special`."""

from __future__ import annotations

from twofold.tensors.generated.bessel import (
    i0 as i0,
)
from twofold.tensors.generated.bessel import (
    special_airy_ai as airy_ai,
)
from twofold.tensors.generated.bessel import (
    special_bessel_j0 as bessel_j0,
)
from twofold.tensors.generated.bessel import (
    special_bessel_j1 as bessel_j1,
)
from twofold.tensors.generated.bessel import (
    special_bessel_y0 as bessel_y0,
)
from twofold.tensors.generated.bessel import (
    special_bessel_y1 as bessel_y1,
)
from twofold.tensors.generated.bessel import (
    special_i0e as i0e,
)
from twofold.tensors.generated.bessel import (
    special_i1 as i1,
)
from twofold.tensors.generated.bessel import (
    special_i1e as i1e,
)
from twofold.tensors.generated.bessel import (
    special_modified_bessel_i0 as modified_bessel_i0,
)
from twofold.tensors.generated.bessel import (
    special_modified_bessel_i1 as modified_bessel_i1,
)
from twofold.tensors.generated.bessel import (
    special_modified_bessel_k0 as modified_bessel_k0,
)
from twofold.tensors.generated.bessel import (
    special_modified_bessel_k1 as modified_bessel_k1,
)
from twofold.tensors.generated.bessel import (
    special_scaled_modified_bessel_k0 as scaled_modified_bessel_k0,
)
from twofold.tensors.generated.bessel import (
    special_scaled_modified_bessel_k1 as scaled_modified_bessel_k1,
)
from twofold.tensors.generated.bessel import (
    special_spherical_bessel_j0 as spherical_bessel_j0,
)
from twofold.tensors.generated.elementwise import (
    xlogy as xlogy,
)
from twofold.tensors.generated.erf_family import (
    erfinv as erfinv,
)
from twofold.tensors.generated.erf_family import (
    sinc as sinc,
)
from twofold.tensors.generated.erf_family import (
    special_entr as entr,
)
from twofold.tensors.generated.erf_family import (
    special_erfcx as erfcx,
)
from twofold.tensors.generated.erf_family import (
    special_log_ndtr as log_ndtr,
)
from twofold.tensors.generated.erf_family import (
    special_ndtr as ndtr,
)
from twofold.tensors.generated.erf_family import (
    special_ndtri as ndtri,
)
from twofold.tensors.generated.erf_family import (
    special_xlog1py as xlog1py,
)
from twofold.tensors.generated.gamma import (
    digamma as digamma,
)
from twofold.tensors.generated.gamma import (
    digamma as psi,
)
from twofold.tensors.generated.gamma import (
    igamma as gammainc,
)
from twofold.tensors.generated.gamma import (
    igammac as gammaincc,
)
from twofold.tensors.generated.gamma import (
    lgamma as gammaln,
)
from twofold.tensors.generated.gamma import (
    mvlgamma as multigammaln,
)
from twofold.tensors.generated.gamma import (
    polygamma as polygamma,
)
from twofold.tensors.generated.gamma import (
    special_zeta as zeta,
)
from twofold.tensors.generated.orthogonal import (
    special_chebyshev_polynomial_t as chebyshev_polynomial_t,
)
from twofold.tensors.generated.orthogonal import (
    special_chebyshev_polynomial_u as chebyshev_polynomial_u,
)
from twofold.tensors.generated.orthogonal import (
    special_chebyshev_polynomial_v as chebyshev_polynomial_v,
)
from twofold.tensors.generated.orthogonal import (
    special_chebyshev_polynomial_w as chebyshev_polynomial_w,
)
from twofold.tensors.generated.orthogonal import (
    special_hermite_polynomial_h as hermite_polynomial_h,
)
from twofold.tensors.generated.orthogonal import (
    special_hermite_polynomial_he as hermite_polynomial_he,
)
from twofold.tensors.generated.orthogonal import (
    special_laguerre_polynomial_l as laguerre_polynomial_l,
)
from twofold.tensors.generated.orthogonal import (
    special_legendre_polynomial_p as legendre_polynomial_p,
)
from twofold.tensors.generated.orthogonal import (
    special_shifted_chebyshev_polynomial_t as shifted_chebyshev_polynomial_t,
)
from twofold.tensors.generated.orthogonal import (
    special_shifted_chebyshev_polynomial_u as shifted_chebyshev_polynomial_u,
)
from twofold.tensors.generated.orthogonal import (
    special_shifted_chebyshev_polynomial_v as shifted_chebyshev_polynomial_v,
)
from twofold.tensors.generated.orthogonal import (
    special_shifted_chebyshev_polynomial_w as shifted_chebyshev_polynomial_w,
)
from twofold.tensors.generated.reduction import (
    logsumexp as logsumexp,
)
from twofold.tensors.generated.softmax import (
    log_softmax as log_softmax,
)
from twofold.tensors.generated.softmax import (
    softmax as softmax,
)
from twofold.tensors.generated.unary import (
    erf as erf,
)
from twofold.tensors.generated.unary import (
    erfc as erfc,
)
from twofold.tensors.generated.unary import (
    exp2 as exp2,
)
from twofold.tensors.generated.unary import (
    expm1 as expm1,
)
from twofold.tensors.generated.unary import (
    log1p as log1p,
)
from twofold.tensors.generated.unary import (
    logit as logit,
)
from twofold.tensors.generated.unary import (
    round as round,
)
from twofold.tensors.generated.unary import (
    sigmoid as expit,
)

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1",
    "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "modified_bessel_i0",
    "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy",
    "zeta",
]  # fmt: skip
