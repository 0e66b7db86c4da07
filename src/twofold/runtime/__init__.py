"""What compiled programs stand on: devices, buffers, threads, caches of compiled objects. Filled from the compiler's first version on."""
