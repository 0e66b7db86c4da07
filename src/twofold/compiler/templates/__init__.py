"""Kernel templates: operations that are no loop over independent elements (scans, sorts, searches), each written as LLVM text by hand."""
