"""What compiled programs stand on: devices, buffers, threads, caches of compiled objects. So far targets, code generation and frames."""
