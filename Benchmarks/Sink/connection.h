// One client's connection: its TLS session, what waits to be read or written, and the streams that are open.
#pragma once
#include "service.h"
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_CAPACITY = 64 * 1024, APNS_ID_LENGTH = 36 };

// What has been seen of a request.
struct stream {
    uint32_t id; // 0 where the place is free
    const struct service *service;
    bool is_authorized;
    bool fails;
    bool has_id;
    char apns_id[APNS_ID_LENGTH];
    // ECHO_LIMIT bytes that stay with the place; NULL until they are needed.
    char *echo;
    size_t echo_length;
};

struct connection {
    int socket;
    SSL *tls;
    bool has_shaken_hands;
    bool is_http1;
    bool waits_for_room;

    uint8_t input[INPUT_CAPACITY];
    size_t input_length;
    uint8_t *output;
    size_t output_sent, output_length, output_capacity;
    // How much of the output's end is on its way for as long as a delay lasts, and how often it was put there.
    size_t held;
    uint32_t holds;
    bool is_gone;

    // HTTP/2
    bool has_preface;
    bool has_answered;
    nghttp2_hd_inflater *inflater;
    uint32_t unreturned_window;
    // The place of a stream is the half of its id modulo the capacity, a power of two.
    struct stream *streams;
    uint32_t stream_capacity;
};

// What all connections have answered.
struct totals {
    uint64_t accepted, refused, failed;
};
extern struct totals totals;

struct connection *connection_new(int socket, SSL_CTX *context);
void connection_free(struct connection *);
// Reads and writes what can be. false: the connection is of no more use.
bool connection_serve(struct connection *);
// So many bytes have waited for long enough. false: the connection is of no more use.
bool connection_release(struct connection *, size_t count);
// Makes room for so many more bytes of output and returns where they go; output_length is the caller's to raise.
uint8_t *connection_reserve(struct connection *, size_t count);

// How many requests a new connection may have open.
extern uint32_t stream_limit;
// Queues our SETTINGS.
void http2_start(struct connection *, uint32_t stream_limit);
// Takes whole frames out of the input. false: the client breaks the protocol.
bool http2_read(struct connection *);
// Takes whole requests out of the input. false: the client breaks the protocol.
bool http1_read(struct connection *);
