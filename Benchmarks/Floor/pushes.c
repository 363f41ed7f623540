#include "pushes.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { DATA = 0, HEADERS = 1, SETTINGS = 4 };
enum flag { END_STREAM = 1, END_HEADERS = 4 };
// How an HPACK field begins: one that goes into the table, one that does not, and one that is in the static table.
enum field { INSERTED = 0x40, LITERAL = 0x10, METHOD_POST = 0x83, SCHEME_HTTPS = 0x87 };
// As many streams as the sink allows at a time; there are places for more, because some answers are later than others.
enum { STREAM_LIMIT = 1000, STREAM_PLACES = 1 << 14 };
enum { HEADER_SIZE = 9, CAPACITY = 1 << 20, FRAME_LIMIT = 8192, READ_AHEAD = 1 << 17 };

struct pushes {
    SSL *tls;
    uint32_t next_stream;
    int open;
    // By the half of the stream's id.
    void *contexts[STREAM_PLACES];
    uint8_t input[CAPACITY], output[CAPACITY];
    size_t input_length, output_length;
};

// The frames of a push, and where they are each push's own.
static struct frames {
    uint8_t bytes[FRAME_LIMIT];
    size_t length, token, id, data;
} first, later; // The first on a connection fills the table of its peer.

// MARK: Frames

static void put_stream(uint8_t *header, uint32_t stream) {
    memcpy(header + 5, &(uint32_t){htonl(stream)}, 4);
}

static void put_header(uint8_t *to, enum kind kind, uint8_t flags, uint32_t stream, size_t length) {
    memcpy(to, &(uint32_t){htonl((uint32_t)length << 8 | kind)}, 4);
    to[4] = flags;
    put_stream(to, stream);
}

static void put(struct frames *it, const void *bytes, size_t length) {
    if (it->length + length > FRAME_LIMIT) die("finding room for a push");
    memcpy(it->bytes + it->length, bytes, length);
    it->length += length;
}

static void put_text(struct frames *it, const char *text, size_t length) {
    uint8_t number[3] = {(uint8_t)length};
    bool is_long = length >= 0x7F;
    if (is_long) {
        number[0] = 0x7F;
        number[1] = (uint8_t)(length - 0x7F) | 0x80;
        number[2] = (uint8_t)((length - 0x7F) >> 7);
    }
    put(it, number, is_long ? 3 : 1);
    put(it, text, length);
}

static void put_field(struct frames *it, enum field kind, const char *name, const char *value) {
    put(it, &(uint8_t){kind}, 1);
    put_text(it, name, strlen(name));
    put_text(it, value, strlen(value));
}

// The fields are as long as the product's, and literals where those are.
static void make(struct frames *it, bool is_first, struct text body) {
    static const char *const common[][2] = {
        {":authority", "127.0.0.1:12345"}, {"apns-topic", "com.example.app"}, {"apns-push-type", "alert"},
        {"apns-priority", "10"},
    };
    static char authorization[268], length[20], path[10 + 2 * TOKEN_LENGTH + 1] = "/3/device/";
    memset(authorization, 'b', sizeof authorization - 1);
    memset(path + 10, '0', 2 * TOKEN_LENGTH);
    snprintf(length, sizeof length, "%zu", body.length);
    it->length = HEADER_SIZE;
    put(it, (uint8_t[]){METHOD_POST, SCHEME_HTTPS}, 2);
    for (int i = 0; i < 4; i++) {
        // What was inserted last has the first number behind the static table's.
        if (is_first) put_field(it, INSERTED, common[i][0], common[i][1]);
        else put(it, &(uint8_t){(uint8_t)(0x80 | (65 - i))}, 1);
    }
    put_field(it, LITERAL, ":path", path);
    it->token = it->length - 2 * TOKEN_LENGTH;
    put_field(it, LITERAL, "authorization", authorization);
    put_field(it, LITERAL, "apns-expiration", "1893456000");
    put_field(it, LITERAL, "content-length", length);
    put_field(it, LITERAL, "apns-id", "00000000-0123-4567-89ab-0123456789ab");
    it->id = it->length - 36;
    put_header(it->bytes, HEADERS, END_HEADERS, 0, it->length - HEADER_SIZE);
    it->data = it->length;
    put(it, (uint8_t[HEADER_SIZE]){0}, HEADER_SIZE);
    put(it, body.start, body.length);
    put_header(it->bytes + it->data, DATA, END_STREAM, 0, body.length);
}

void pushes_prepare(struct text body) {
    make(&first, true, body);
    make(&later, false, body);
}

static void put_digits(uint8_t *to, const uint8_t *bytes, int count) {
    static char digits[256][2];
    if (!digits[0][0])
        for (int i = 0; i < 512; i++) digits[i / 2][i % 2] = "0123456789abcdef"[i / 2 >> (i % 2 ? 0 : 4) & 15];
    for (int i = 0; i < count; i++) memcpy(to + 2 * i, digits[bytes[i]], 2);
}

// MARK: Connections

struct pushes *pushes_open(const char *port, const char *certificate) {
    static SSL_CTX *context;
    struct pushes *it = calloc(1, sizeof *it);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(port));
    int sink = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!it || connect(sink, (struct sockaddr *)&address, sizeof address)) die("connecting to the sink");
    setsockopt(sink, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (!context) {
        context = SSL_CTX_new(TLS_client_method());
        if (SSL_CTX_load_verify_locations(context, certificate, NULL) != 1) die("reading the certificate");
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_alpn_protos(context, (const uint8_t *)"\x02h2", 3);
        SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_read_ahead(context, 1);
        SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
    }
    it->tls = SSL_new(context);
    SSL_set_fd(it->tls, sink);
    if (SSL_connect(it->tls) != 1) die("shaking hands with the sink");
    fcntl(sink, F_SETFL, O_NONBLOCK);
    it->next_stream = 1;
    it->output_length = (size_t)sprintf((char *)it->output, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    put_header(it->output + it->output_length, SETTINGS, 0, 0, 0);
    it->output_length += HEADER_SIZE;
    pushes_flush(it);
    return it;
}

int pushes_socket(const struct pushes *it) {
    return SSL_get_fd(it->tls);
}

bool pushes_have_room(const struct pushes *it) {
    return it->open < STREAM_LIMIT;
}

static void **place_of(struct pushes *it, uint32_t stream) {
    return &it->contexts[stream / 2 % STREAM_PLACES];
}

void pushes_add(struct pushes *it, const uint8_t token[TOKEN_LENGTH], void *context) {
    static uint32_t number;
    const struct frames *frames = it->next_stream == 1 ? &first : &later;
    void **place = place_of(it, it->next_stream);
    if (it->output_length + frames->length > CAPACITY || *place) die("adding a push");
    *place = context;
    uint8_t *to = it->output + it->output_length;
    memcpy(to, frames->bytes, frames->length);
    put_digits(to + frames->token, token, TOKEN_LENGTH);
    put_digits(to + frames->id, (const uint8_t *)&number, 4);
    put_stream(to, it->next_stream);
    put_stream(to + frames->data, it->next_stream);
    it->output_length += frames->length;
    it->next_stream += 2;
    it->open++;
    number++;
}

void pushes_flush(struct pushes *it) {
    size_t sent = 0, count;
    while (sent < it->output_length && SSL_write_ex(it->tls, it->output + sent, it->output_length - sent, &count) == 1)
        sent += count;
    it->output_length -= sent;
    if (!it->output_length) return;
    // There are answers to come, and with them the next call.
    if (SSL_get_error(it->tls, 0) != SSL_ERROR_WANT_WRITE) die("writing to the sink");
    memmove(it->output, it->output + sent, it->output_length);
}

static void end(struct pushes *it, uint32_t stream, int64_t gone_since, void (*answered)(void *, int64_t)) {
    void **place = place_of(it, stream), *context = *place;
    *place = NULL;
    it->open--;
    answered(context, gone_since);
}

// The answer to a push that fails says since when in its body.
static void take(struct pushes *it, const uint8_t *header, struct text content, void (*answered)(void *, int64_t)) {
    uint32_t stream;
    memcpy(&stream, header + 5, 4);
    if (header[3] == HEADERS) {
        // Behind the new size of the table in the first answer.
        const char *status = content.start + (content.start[0] == 0x20);
        if ((uint8_t)*status == 0x88) end(it, ntohl(stream), 0, answered);
        else if (memcmp(status, "\x08\x03" "410", 5)) die("a push");
    } else if (header[3] == DATA) {
        struct text since = between(content, "\"timestamp\":", "}");
        if (!since.start) die("a refused push");
        end(it, ntohl(stream), strtoll(since.start, NULL, 10), answered);
    }
}

void pushes_read(struct pushes *it, void (*answered)(void *context, int64_t gone_since)) {
    size_t count, at, length;
    while (SSL_read_ex(it->tls, it->input + it->input_length, CAPACITY - it->input_length, &count) == 1) {
        it->input_length += count;
        for (at = 0; it->input_length - at >= HEADER_SIZE; at += HEADER_SIZE + length) {
            const uint8_t *header = it->input + at;
            length = (size_t)header[0] << 16 | (size_t)header[1] << 8 | header[2];
            if (it->input_length - at < HEADER_SIZE + length) break;
            take(it, header, (struct text){(const char *)header + HEADER_SIZE, length}, answered);
        }
        it->input_length -= at;
        memmove(it->input, it->input + at, it->input_length);
    }
    if (SSL_get_error(it->tls, 0) != SSL_ERROR_WANT_READ) die("reading from the sink");
}
