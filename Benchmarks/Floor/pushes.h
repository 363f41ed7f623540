// One connection of TLS 1.3 and HTTP/2 to the sink, for pushes to Apple's devices.
#pragma once
#include "database.h"

// Connects to a port whose certificate is in a file. Returns the socket.
int pushes_open(const char *port, const char *certificate);
void pushes_add(const uint8_t token[TOKEN_LENGTH], struct text body, void *context);
// Writes what was added.
void pushes_flush(void);
// Calls back with the context of each push that has been answered with success.
void pushes_read(void (*accepted)(void *context));
