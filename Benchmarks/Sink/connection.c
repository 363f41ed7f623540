#include "connection.h"
#include "delay.h"
#include "memory.h"
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A client that never stops sending is left after this much, so that others have their turn.
enum { BYTES_PER_TURN = 1 << 20 };

// What Apple allows on a connection at present.
uint32_t stream_limit = 1000;

struct connection *connection_new(int socket, SSL_CTX *context) {
    struct connection *it = calloc(1, sizeof *it);
    if (!it) abort();
    it->socket = socket;
    it->tls = SSL_new(context);
    it->stream_capacity = 4096;
    it->streams = calloc(it->stream_capacity, sizeof *it->streams);
    if (!it->tls || !it->streams || nghttp2_hd_inflate_new2(&it->inflater, &memory)) abort();
    SSL_set_fd(it->tls, socket);
    SSL_set_accept_state(it->tls);
    return it;
}

void connection_free(struct connection *it) {
    SSL_free(it->tls);
    close(it->socket);
    nghttp2_hd_inflate_del(it->inflater);
    free(it->output);
    for (uint32_t i = 0; i < it->stream_capacity; i++) free(it->streams[i].echo);
    free(it->streams);
    it->is_gone = true;
    if (!it->holds) free(it);
}

uint8_t *connection_reserve(struct connection *it, size_t count) {
    if (it->output_length + count > it->output_capacity) {
        while (it->output_length + count > it->output_capacity)
            it->output_capacity = it->output_capacity ? it->output_capacity * 2 : 16 * 1024;
        it->output = realloc(it->output, it->output_capacity);
        if (!it->output) abort();
    }
    return it->output + it->output_length;
}

static bool would_block(struct connection *it, int result) {
    int error = SSL_get_error(it->tls, result);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

static bool shake_hands(struct connection *it) {
    int result = SSL_do_handshake(it->tls);
    if (result != 1) return would_block(it, result);
    it->has_shaken_hands = true;
    const unsigned char *protocol;
    unsigned int length;
    SSL_get0_alpn_selected(it->tls, &protocol, &length);
    it->is_http1 = length != 2;
    if (!it->is_http1) http2_start(it, stream_limit);
    return true;
}

static bool read_all(struct connection *it) {
    for (size_t taken = 0; taken < BYTES_PER_TURN || SSL_has_pending(it->tls);) {
        size_t room = INPUT_CAPACITY - it->input_length, count;
        int result = SSL_read_ex(it->tls, it->input + it->input_length, room, &count);
        if (result != 1) return would_block(it, result);
        it->input_length += count;
        taken += count;
        if (!(it->is_http1 ? http1_read(it) : http2_read(it))) return false;
    }
    return true;
}

static bool write_all(struct connection *it) {
    it->waits_for_room = false;
    while (it->output_sent < it->output_length - it->held) {
        size_t count, left = it->output_length - it->held - it->output_sent;
        int result = SSL_write_ex(it->tls, it->output + it->output_sent, left, &count);
        if (result != 1) return it->waits_for_room = would_block(it, result);
        it->output_sent += count;
    }
    size_t left = it->output_length - it->output_sent;
    if (left < it->output_sent) {
        memmove(it->output, it->output + it->output_sent, left);
        it->output_sent = 0;
        it->output_length = left;
    }
    return true;
}

bool connection_serve(struct connection *it) {
    if (!it->has_shaken_hands && !shake_hands(it)) return false;
    if (!it->has_shaken_hands) return true;
    size_t waiting = it->output_length - it->output_sent;
    bool goes_on = read_all(it);
    size_t added = it->output_length - it->output_sent - waiting;
    if (delay_is_on() && added) {
        it->held += added;
        delay_add(it, added);
    }
    return write_all(it) && goes_on;
}

bool connection_release(struct connection *it, size_t count) {
    it->held -= count;
    return write_all(it);
}
