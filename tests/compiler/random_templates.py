"""Lines of random programs: {0} and {1} stand for operands, {dim} for a dimension, {last} for the last size, {index} for an index."""

from __future__ import annotations


def templates(text: str) -> tuple[str, ...]:
    """Templates separated by semicolons."""
    return tuple(t.strip() for t in text.split(";"))


UNARY = templates("""
    tf.relu({0}) ; tf.tanh({0}) ; tf.sigmoid({0}) ; F.gelu({0}) ; F.gelu({0}, approximate='tanh') ; F.silu({0}) ; tf.exp(-tf.abs({0})) ;
    tf.erf({0}) ; tf.sqrt(tf.abs({0}) + 0.1) ; tf.log(tf.abs({0}) + 0.5) ; tf.sin({0}) ; tf.cos({0}) ; tf.expm1(tf.tanh({0})) ;
    tf.log1p(tf.abs({0})) ; F.softplus({0}) ; F.leaky_relu({0}, 0.1) ; F.elu({0}) ; F.hardswish({0}) ; {0} * 1.5 - 0.25 ;
    1.0 / ({0} * {0} + 1.0) ; tf.rsqrt({0} * {0} + 0.5) ; {0}.clamp(-0.7, 0.9) ; tf.atan({0}) ; {0}.square() ; F.mish({0}) ;
    F.logsigmoid({0}) ; tf.abs({0}) ** 1.7 ; {0} ** 3 * 0.1 ; F.selu({0}) ; F.softsign({0}) ; F.hardtanh({0}) ; F.hardsigmoid({0}) ;
    tf.exp2(tf.sin({0})) ; tf.asinh({0}) ; tf.sinc({0}) ; tf.nan_to_num({0}) ; tf.softmax({0}.reshape(-1), 0)
""")
"""Floating point to floating point, differentiable almost everywhere and of bounded results."""
EXACT_UNARY = templates("""
    tf.relu({0}) ; -{0} ; tf.abs({0}) ; {0}.clone() ; {0}.detach() ; {0}.clamp(-0.5, 0.5) ; tf.sign({0}) ; tf.floor({0}) ; tf.ceil({0}) ;
    tf.round({0}) ; tf.trunc({0}) ; tf.signbit({0}) ; tf.isnan({0}) ; tf.heaviside({0}, {0}) ; ({0} > 0.1234) ; ({0} == 0) ;
    tf.frac({0})
""")
"""Every way of computing them gives the same bits."""
BINARY = templates("""
    {0} + {1} ; {0} - {1} ; {0} * {1} ; {0} / (tf.abs({1}) + 0.5) ; tf.maximum({0}, {1}) ; tf.minimum({0}, {1}) ; tf.hypot({0}, {1}) ;
    tf.lerp({0}, {1}, 0.3) ; tf.addcmul({0}, {0}, {1}, value=0.5) ; tf.atan2({0}, tf.abs({1}) + 0.5) ; tf.logaddexp({0}, {1}) ;
    {0} + 0.3 * {1} ; F.huber_loss({0}, {1}, reduction='none') ; F.mse_loss({0}, {1}) ; F.smooth_l1_loss({0}, {1}, reduction='none') ;
    (tf.abs({0}) + 0.2) ** tf.sigmoid({1}) ; tf.xlogy({0}, tf.abs({1}) + 0.2)
""")
EXACT_BINARY = templates("""
    tf.maximum({0}, {1}) ; tf.minimum({0}, {1}) ; ({0} > {1}) ; ({0} <= {1}) ; ({0} == {1}) ; ({0} != {1}) ; tf.fmax({0}, {1}) ;
    tf.copysign({0}, {1}) ; tf.where({0} > {1}, {0}, {1}) ; tf.where({0} > {1}, {1}, 0.5) ; {0}.masked_fill({1} > 0.25, 2.0)
""")
INTEGER = templates("""
    {0} + {1} ; {0} - {1} ; {0} * {1} ; {0} // 3 ; {0} % 5 ; {0} & {1} ; {0} | {1} ; {0} ^ {1} ; ~{0} ; ({0} < {1}) ;
    tf.where({0} > 2, {0}, {1}) ; {0} << 1 ; {0} >> 1 ; tf.remainder({0}, 4) ; tf.abs({0}) ; tf.clamp({0}, -2, 3) ;
    tf.div({0}, 3, rounding_mode='trunc') ; tf.gcd({0}, {1}) ; tf.maximum({0}, {1}) ; tf.fmod({0}, 3) ; {0} * 2.5 ; tf.sign({0})
""")
"""Of integers."""
LOGIC = templates("""
    {0} & {1} ; {0} | {1} ; {0} ^ {1} ; ~{0} ; tf.logical_not({0}) ; tf.where({0}, {1}, ~{1}) ; ({0} == {1}) ; {0} * 3
""")
"""Of truth values."""
NORMALISED = templates("""
    tf.softmax({0}, {dim}) ; tf.log_softmax({0}, {dim}) ; F.layer_norm({0}, ({last},)) ; F.rms_norm({0}, ({last},)) ;
    F.normalize({0}, dim={dim}) ; F.softmin({0}, {dim}) ; ({0} - {0}.mean({dim}, keepdim=True)) / ({0}.std({dim}, keepdim=True) + 0.5) ;
    {0}.cumsum({dim}) ; F.glu(tf.cat([{0}, {0}], {dim}), {dim}) ; {0} / ({0}.norm(dim={dim}, keepdim=True) + 0.5) ;
    tf.logcumsumexp({0}, {dim})
""")
WRITES = templates("""
    {0}.add_(0.5) ; {0}.mul_({1}) ; {0}.relu_() ; {0}.copy_({1}) ; {0}.zero_() ; {0}.clamp_(-0.5, 0.5) ; {0}.sub_({1}, alpha=0.5) ;
    {0}[{index}] = 0.25 ; {0}[{index}] += 1.5 ; {0}[{index}].mul_(0.5) ; {0}.masked_fill_({0} > 0.123, 0.5) ; {0}.flip(0).add_(1.0) ;
    {0}.t().mul_(2.0) ; {0}.fill_(0.5) ; {0}[{index}] = {0}.flip(0)[{index}] * 0.5 ; {0}.view(-1)[::2].add_(1.0) ;
    {0}.diagonal().fill_(1.0) ; {0}.transpose(0, -1).sub_(0.125)
""")
"""In-place operations."""
