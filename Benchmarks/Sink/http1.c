// The part of HTTP/1.1 that a client's requests need: a head, a body of a stated length, the next request.
#define _GNU_SOURCE
#include "connection.h"
#include <stdlib.h>
#include <string.h>

static const char refusal[] = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";

struct request {
    const struct service *service;
    bool is_authorized;
    size_t body_length;
};

static bool has_name(const char *line, size_t length, const char *name) {
    size_t count = strlen(name);
    return length > count && !strncasecmp(line, name, count) && line[count] == ':';
}

// The first line, then fields. false: the first line is none.
static bool read_head(struct request *it, const char *from, const char *end) {
    const char *path = memchr(from, ' ', (size_t)(end - from));
    const char *behind = path ? memchr(path + 1, ' ', (size_t)(end - path - 1)) : NULL;
    if (!behind) return false;
    it->service = service_of(path + 1, (size_t)(behind - path - 1));
    for (const char *line = behind; (line = memchr(line, '\n', (size_t)(end - line))) && ++line < end;) {
        size_t length = (size_t)(end - line);
        if (has_name(line, length, "authorization")) it->is_authorized = true;
        else if (has_name(line, length, "content-length")) it->body_length = strtoul(line + 15, NULL, 10);
    }
    return true;
}

static void answer(struct connection *it, const struct request *request) {
    const struct service *service = request->service;
    bool is_accepted = service && (request->is_authorized || !service->needs_authorization);
    const char *text = is_accepted ? service->response : refusal;
    size_t length = is_accepted ? service->response_length : sizeof refusal - 1;
    memcpy(connection_reserve(it, length), text, length);
    it->output_length += length;
    if (is_accepted) totals.accepted++;
    else totals.refused++;
}

bool http1_read(struct connection *it) {
    const char *from = (const char *)it->input, *end = from + it->input_length, *blank;
    while ((blank = memmem(from, (size_t)(end - from), "\r\n\r\n", 4))) {
        struct request request = {0};
        if (!read_head(&request, from, blank + 2)) return false;
        const char *body = blank + 4;
        if (request.body_length > INPUT_CAPACITY / 2) return false;
        if ((size_t)(end - body) < request.body_length) break;
        answer(it, &request);
        from = body + request.body_length;
    }
    it->input_length = (size_t)(end - from);
    memmove(it->input, from, it->input_length);
    return it->input_length < INPUT_CAPACITY;
}
