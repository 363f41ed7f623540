#define _GNU_SOURCE
#include "latency.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CAPACITY = 1 << 20 };

struct latency latency;
static double seconds[CAPACITY];
static size_t count;

void latency_note(const uint8_t *body, size_t length) {
    static const char name[] = "\"sent\":";
    const uint8_t *found = memmem(body, length, name, sizeof name - 1);
    if (!found || count == CAPACITY) return;
    double sent = 0;
    for (found += sizeof name - 1; found < body + length && *found >= '0' && *found <= '9'; found++)
        sent = sent * 10 + (*found - '0');
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds[count++] = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - sent / 1e9;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void latency_report(bool goes_on) {
    qsort(seconds, count, sizeof *seconds, compare);
    double median = count ? seconds[count / 2] : 0, p99 = count ? seconds[count * 99 / 100] : 0;
    printf("%zu %.6f %.6f %.6f\n", count, median, p99, count ? seconds[count - 1] : 0);
    count = 0;
    latency.is_on = goes_on;
}
