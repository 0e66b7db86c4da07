"""Numerical methods behind special functions: NumPy in float64, element by element, without any other library.

Each public function takes arrays (or NumPy scalars) that broadcast, computes in float64 and returns the floating dtype of its operands.
They are primitives of the scalar vocabulary (`ops.scalar`).
"""
