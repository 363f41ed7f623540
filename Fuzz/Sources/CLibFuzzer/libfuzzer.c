#include "CLibFuzzer.h"

// The runtime is linked whole, with a main that is not used and asks for this.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)data;
    (void)size;
    return -1;
}
