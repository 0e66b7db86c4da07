from twofold.compiler.emit import KernelCode
