// A long way between the sink and its clients: what the sink writes is held back, in the order in which it was written.
#pragma once
#include "connection.h"
#include <stdbool.h>
#include <stddef.h>

struct hold {
    struct connection *connection;
    // Bytes at the end of the output as it was.
    size_t count;
    // The connection was accepted and is not served yet.
    bool is_new;
};

// 0: no delay.
void delay_set(unsigned int milliseconds);
bool delay_is_on(void);
// Once the delay is over, delay_take gives it back.
void delay_add(struct connection *, size_t count);
// Is given back after twice the delay.
void delay_add_new(struct connection *);
// false: nothing has waited for long enough.
bool delay_take(struct hold *);
// Milliseconds until something has; -1: nothing waits.
int delay_left(void);
