// Devices of Apple's that are gone, as far as the sink knows: a share of all, always the same ones.
#pragma once
#include "service.h"
#include <stdbool.h>

struct failure {
    // Percent; 0: none is gone.
    unsigned int share;
    char body[64];
    size_t body_length;
};
extern struct failure failure;

// moment: since when they are gone, in Unix milliseconds.
void failure_set(unsigned int percent, long long moment);
bool failure_is_for(const struct service *, const uint8_t *path);
