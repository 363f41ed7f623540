// How long pushes were under way that say in their bodies when they were sent: "sent":NANOSECONDS of the monotonic
// clock.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency {
    bool is_on;
};
extern struct latency latency;

void latency_note(const uint8_t *body, size_t length);
// Prints what was noted, forgets it, and goes on noting or not.
void latency_report(bool goes_on);
