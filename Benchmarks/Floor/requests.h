// What clients ask over HTTP/1.1: each has one request at a time on a connection.
#pragma once
#include "database.h"

enum { REQUEST_LIMIT = 16 * 1024, EVENTS_PER_TURN = 1024 };

struct request {
    struct request *next;
    int socket;
    size_t length;
    char bytes[REQUEST_LIMIT];
    struct text head, body;
    // What it has begun.
    void *work;
};

// What all descriptors are watched with; made by `requests_listen`.
extern int epoll;
// The context is told with each event of the descriptor.
void watch(int descriptor, void *context);

// Listens on a port of its own, and prints "ready PORT". Returns the socket.
int requests_listen(void);
// Watches those who have connected, each with a new request as its context.
void requests_accept(int listener);
// Reads more of a request. Returns whether it is complete; the request is gone if its client is.
bool request_read(struct request *);
// Where a client finds what it has sent or put.
#define LOCATION "Location: http://127.0.0.1:12345/bench/messages/0123456789abcdef0123456789abcdef\r\n"
void request_answer(const struct request *, const char *status, const char *fields, struct text body);
