#pragma once

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry for programs with a main of their own; the compiler's runtime has it and no header declares it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
