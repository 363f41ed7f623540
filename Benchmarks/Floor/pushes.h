// Connections of TLS 1.3 and HTTP/2 to the sink, for pushes to Apple's devices.
#pragma once
#include "database.h"

struct pushes;

// Connects to a port whose certificate is in a file.
struct pushes *pushes_open(const char *port, const char *certificate);
int pushes_socket(const struct pushes *);
// Makes the frames of a push with this body, of which the next pushes are copies.
void pushes_prepare(struct text body);
// Whether the sink takes one more push at a time.
bool pushes_have_room(const struct pushes *);
void pushes_add(struct pushes *, const uint8_t token[TOKEN_LENGTH], void *context);
// Writes what was added, as far as the socket takes it; the rest with the next call.
void pushes_flush(struct pushes *);
// Calls back with the context of each push that has been answered: with 0 for a success, and with the time since which
// the device is said to be gone.
void pushes_read(struct pushes *, void (*answered)(void *context, int64_t gone_since));
