#include "delay.h"
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { CAPACITY = 1 << 20 };

struct place {
    struct hold hold;
    uint64_t due;
    bool waits_again;
};

// All wait equally long, so they are due in the order in which they came.
static struct place *places;
static uint32_t first, count;
static uint64_t delay;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void add(struct hold hold, bool waits_again) {
    if (count == CAPACITY) abort();
    places[(first + count++) % CAPACITY] = (struct place){hold, now() + delay, waits_again};
    hold.connection->holds++;
}

void delay_set(unsigned int milliseconds) {
    if (!places && !(places = calloc(CAPACITY, sizeof *places))) abort();
    delay = (uint64_t)milliseconds * 1000000;
}

bool delay_is_on(void) {
    return delay;
}

void delay_add(struct connection *it, size_t count) {
    add((struct hold){it, count, false}, false);
}

void delay_add_new(struct connection *it) {
    add((struct hold){it, 0, true}, true);
}

bool delay_take(struct hold *to) {
    while (count && now() >= places[first].due) {
        struct place place = places[first];
        first = (first + 1) % CAPACITY;
        count--;
        place.hold.connection->holds--;
        *to = place.hold;
        if (!place.waits_again) return true;
        add(place.hold, false);
    }
    return false;
}

int delay_left(void) {
    if (!count) return -1;
    uint64_t moment = now(), due = places[first].due;
    return due > moment ? (int)((due - moment + 999999) / 1000000) : 0;
}
