// The push services, as far as a sender sees them: which requests are theirs, and what each answers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWER_LIMIT = 512, FIELD_LIMIT = 6, ECHO_LIMIT = 300 };

struct field {
    const char *name, *value;
};

struct service {
    // What a path of the service's begins and ends with, and how much stands between at least.
    const char *prefix, *suffix;
    size_t least_between;
    bool needs_authorization;
    int status;
    struct field fields[FIELD_LIMIT];
    const char *body;
    // Where the body has what stands between prefix and suffix of the path; 0: nowhere.
    size_t echo_at;

    // The answer as it is written, made once: fields of HTTP/2 as literals that no table holds, and a whole response of
    // HTTP/1.1.
    uint8_t block[ANSWER_LIMIT];
    size_t block_length, body_length;
    char response[ANSWER_LIMIT];
    size_t response_length;
};

// Makes the answers.
void services_start(void);
// Apple's.
const struct service *service_first(void);
// NULL: the path is none of theirs.
const struct service *service_of(const void *path, size_t length);
