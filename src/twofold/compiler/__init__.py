"""The compiler: a static graph becomes a program of native kernels.

Graph → decompose → canonicalise → plan (which values are stored, which kernels compute them) → `KernelSpec`s → schedules → LLVM text →
object code → `Executable`. Each stage is a function of its own; see `pipeline`.
"""
