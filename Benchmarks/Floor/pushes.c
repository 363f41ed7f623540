#include "pushes.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum frame { DATA = 0, HEADERS = 1, SETTINGS = 4 };
enum flag { END_STREAM = 1, END_HEADERS = 4 };
enum { HEADER_SIZE = 9, STREAMS = 1 << 16, CAPACITY = 1 << 20, BLOCK_LIMIT = 1024 };

static SSL *tls;
static nghttp2_hd_deflater *deflater;
static uint32_t next_stream = 1;
// By the half of the stream's id.
static void *contexts[STREAMS];
static uint8_t input[CAPACITY], output[CAPACITY];
static size_t input_length, output_length;

static void put_frame(enum frame kind, uint8_t flags, uint32_t stream, const void *content, size_t length) {
    if (output_length + HEADER_SIZE + length > CAPACITY) die("finding room for a frame");
    uint32_t numbers[] = {htonl((uint32_t)length << 8 | kind), htonl(stream)};
    uint8_t *to = output + output_length;
    memcpy(to, &numbers[0], 4);
    to[4] = flags;
    memcpy(to + 5, &numbers[1], 4);
    memcpy(to + HEADER_SIZE, content, length);
    output_length += HEADER_SIZE + length;
}

int pushes_open(const char *port, const char *certificate) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(port));
    int sink = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(sink, (struct sockaddr *)&address, sizeof address)) die("connecting to the sink");
    setsockopt(sink, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_locations(context, certificate, NULL) != 1) die("reading the certificate");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(context, (const uint8_t *)"\x02h2", 3);
    tls = SSL_new(context);
    SSL_set_fd(tls, sink);
    if (SSL_connect(tls) != 1) die("shaking hands with the sink");
    if (nghttp2_hd_deflate_new(&deflater, 4096)) die("nghttp2_hd_deflate_new");
    output_length = (size_t)sprintf((char *)output, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    put_frame(SETTINGS, 0, 0, "", 0);
    pushes_flush();
    return sink;
}

static nghttp2_nv field(const char *name, const char *value, bool is_literal) {
    uint8_t flags = is_literal ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), flags};
}

// The fields are as long as the product's, and literals where those are.
void pushes_add(const uint8_t token[TOKEN_LENGTH], struct text body, void *context) {
    static char authorization[268], path[10 + 2 * TOKEN_LENGTH + 1] = "/3/device/";
    if (!*authorization) memset(authorization, 'b', sizeof authorization - 1);
    for (int i = 0; i < 2 * TOKEN_LENGTH; i++)
        path[10 + i] = "0123456789abcdef"[token[i / 2] >> (i % 2 ? 0 : 4) & 15];
    char id[37];
    snprintf(id, sizeof id, "%08x-0123-4567-89ab-%012lx", next_stream, (unsigned long)(uintptr_t)context);
    nghttp2_nv fields[] = {
        field(":method", "POST", false), field(":scheme", "https", false),
        field(":authority", "127.0.0.1:12345", false), field(":path", path, true), field("authorization", authorization, true), field("apns-id", id, true),
        field("apns-topic", "com.example.app", false), field("apns-push-type", "alert", false),
        field("apns-priority", "10", false), field("apns-expiration", "1893456000", false),
    };
    uint8_t block[BLOCK_LIMIT];
    ssize_t length = nghttp2_hd_deflate_hd(deflater, block, BLOCK_LIMIT, fields, sizeof fields / sizeof *fields);
    void **place = &contexts[next_stream / 2 % STREAMS];
    if (length < 0 || *place) die("adding a push");
    *place = context;
    put_frame(HEADERS, END_HEADERS, next_stream, block, (size_t)length);
    put_frame(DATA, END_STREAM, next_stream, body.start, body.length);
    next_stream += 2;
}

void pushes_flush(void) {
    size_t count;
    if (output_length && SSL_write_ex(tls, output, output_length, &count) != 1) die("writing to the sink");
    output_length = 0;
}

void pushes_read(void (*accepted)(void *context)) {
    size_t count, at, length;
    do {
        if (SSL_read_ex(tls, input + input_length, CAPACITY - input_length, &count) != 1) die("reading from the sink");
        input_length += count;
        for (at = 0; input_length - at >= HEADER_SIZE; at += HEADER_SIZE + length) {
            const uint8_t *frame = input + at, *content = frame + HEADER_SIZE;
            length = (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
            if (input_length - at < HEADER_SIZE + length) break;
            if (frame[3] != HEADERS) continue;
            // A status of 200, behind the new size of the table in the first answer.
            if (content[content[0] == 0x20] != 0x88) die("a push");
            uint32_t stream;
            memcpy(&stream, frame + 5, 4);
            void **place = &contexts[ntohl(stream) / 2 % STREAMS], *context = *place;
            *place = NULL;
            accepted(context);
        }
        input_length -= at;
        memmove(input, input + at, input_length);
    } while (SSL_has_pending(tls));
}
