// The part of HTTP/2 that a client's requests need, by hand: nghttp2's session would be the slowest part of a
// measurement. Header blocks are decoded by its inflater, because a push service looks at them too.
#include "connection.h"
#include "failure.h"
#include "latency.h"
#include <stdlib.h>
#include <string.h>

enum frame { DATA = 0, HEADERS = 1, RESET = 3, SETTINGS = 4, PING = 6, WINDOW_UPDATE = 8, CONTINUATION = 9 };
enum flag { ACKNOWLEDGEMENT = 1, END_STREAM = 1, END_HEADERS = 4, PADDED = 8, PRIORITY = 0x20 };
enum setting { MAX_CONCURRENT_STREAMS = 3 };
enum { HEADER_SIZE = 9, MAX_FRAME_SIZE = 16384, CONNECTION_WINDOW = 16 << 20 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE_LENGTH = sizeof preface - 1 };

struct totals totals;

// MARK: Writing

static uint8_t *put_number(uint8_t *to, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *to++ = (uint8_t)(value >> shift);
    return to;
}

static uint8_t *put_header(uint8_t *to, size_t length, enum frame kind, uint8_t flags, uint32_t stream) {
    to = put_number(to, (uint32_t)length << 8 | kind);
    *to++ = flags;
    return put_number(to, stream);
}

static uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t count) {
    memcpy(to, bytes, count);
    return to + count;
}

static void put_window_update(struct connection *it, uint32_t count) {
    uint8_t *to = connection_reserve(it, HEADER_SIZE + 4);
    put_number(put_header(to, 4, WINDOW_UPDATE, 0, 0), count);
    it->output_length += HEADER_SIZE + 4;
}

void http2_start(struct connection *it, uint32_t stream_limit) {
    uint8_t *start = connection_reserve(it, HEADER_SIZE + 6);
    uint8_t *to = put_header(start, 6, SETTINGS, 0, 0);
    *to++ = 0;
    *to++ = MAX_CONCURRENT_STREAMS;
    put_number(to, stream_limit);
    it->output_length += HEADER_SIZE + 6;
    put_window_update(it, CONNECTION_WINDOW - 65535);
}

static void answer(struct connection *it, const struct stream *stream) {
    const struct service *service = stream->service;
    bool is_accepted = service && (stream->is_authorized || !service->needs_authorization);
    bool fails = is_accepted && stream->fails;
    const char *body = fails ? failure.body : is_accepted ? service->body : NULL;
    size_t body_length = fails ? failure.body_length : service ? service->body_length : 0;
    uint8_t *start = connection_reserve(it, 2 * ANSWER_LIMIT);
    uint8_t *block = start + HEADER_SIZE, *to = block;
    // No answer uses the dynamic table, whatever size the client announced: its size becomes 0 once.
    if (!it->has_answered) *to++ = 0x20;
    it->has_answered = true;
    if (fails) to = put_bytes(to, "\x08\x03" "410", 5);
    else if (is_accepted) to = put_bytes(to, service->block, service->block_length);
    else to = put_bytes(to, "\x08\x03" "403", 5);
    if (stream->has_id) {
        to = put_bytes(to, "\x00\x07" "apns-id\x24", 10);
        to = put_bytes(to, stream->apns_id, APNS_ID_LENGTH);
    }
    put_header(start, (size_t)(to - block), HEADERS, body ? END_HEADERS : END_HEADERS | END_STREAM, stream->id);
    // Windows are not looked at: every client here opens its connection's for many more answers than it has requests.
    if (body) {
        size_t echo_at = service->echo_at && !fails ? service->echo_at : body_length;
        size_t echo_length = echo_at < body_length ? stream->echo_length : 0;
        to = put_header(to, body_length + echo_length, DATA, END_STREAM, stream->id);
        to = put_bytes(to, body, echo_at);
        to = put_bytes(to, stream->echo, echo_length);
        to = put_bytes(to, body + echo_at, body_length - echo_at);
    }
    it->output_length += (size_t)(to - start);
    if (fails) totals.failed++;
    else if (is_accepted) totals.accepted++;
    else totals.refused++;
}

// MARK: Streams

static struct stream *place_of(struct connection *it, uint32_t id) {
    return &it->streams[(id >> 1) & (it->stream_capacity - 1)];
}

// Until no two open streams share a place.
static void grow(struct connection *it) {
    struct stream *old = it->streams;
    uint32_t count = it->stream_capacity;
    it->stream_capacity *= 2;
    it->streams = calloc(it->stream_capacity, sizeof *it->streams);
    if (!it->streams) abort();
    for (uint32_t i = 0; i < count; i++)
        if (old[i].id) *place_of(it, old[i].id) = old[i];
        else free(old[i].echo);
    free(old);
}

static struct stream *open_stream(struct connection *it, uint32_t id) {
    while (place_of(it, id)->id) grow(it);
    struct stream *stream = place_of(it, id);
    *stream = (struct stream){.id = id, .echo = stream->echo};
    return stream;
}

static struct stream *find_stream(struct connection *it, uint32_t id) {
    struct stream *stream = place_of(it, id);
    return id && stream->id == id ? stream : NULL;
}

static void finish(struct connection *it, struct stream *stream) {
    answer(it, stream);
    stream->id = 0;
}

// MARK: Reading

static void note_field(struct stream *stream, const nghttp2_nv *field) {
    if (field->namelen == 5 && !memcmp(field->name, ":path", 5)) {
        stream->service = service_of(field->value, field->valuelen);
        if (stream->service && stream->service->echo_at) {
            size_t front = strlen(stream->service->prefix), back = strlen(stream->service->suffix);
            stream->echo_length = field->valuelen - front - back;
            if (stream->echo_length > ECHO_LIMIT) stream->echo_length = ECHO_LIMIT;
            if (!stream->echo && !(stream->echo = malloc(ECHO_LIMIT))) abort();
            memcpy(stream->echo, field->value + front, stream->echo_length);
        }
        stream->fails = failure.share && stream->service && failure_is_for(stream->service, field->value);
    } else if (field->namelen == 7 && !memcmp(field->name, "apns-id", 7) && field->valuelen == APNS_ID_LENGTH) {
        memcpy(stream->apns_id, field->value, APNS_ID_LENGTH);
        stream->has_id = true;
    } else if (field->namelen == 13 && !memcmp(field->name, "authorization", 13)) {
        stream->is_authorized = true;
    }
}

static bool decode(struct connection *it, struct stream *stream, const uint8_t *block, size_t count) {
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(it->inflater, &field, &flags, block, count, 1);
        if (used < 0) return false;
        block += used;
        count -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) note_field(stream, &field);
        if (flags & NGHTTP2_HD_INFLATE_FINAL) return nghttp2_hd_inflate_end_headers(it->inflater) == 0;
    }
}

// Without padding and priority. false: it is padded beyond its end.
static bool strip(enum frame kind, uint8_t flags, const uint8_t **payload, size_t *count) {
    size_t front = 0, back = 0;
    if (flags & PADDED) {
        if (!*count) return false;
        front = 1;
        back = **payload;
    }
    if (kind == HEADERS && flags & PRIORITY) front += 5;
    if (front + back > *count) return false;
    *payload += front;
    *count -= front + back;
    return true;
}

static bool take(struct connection *it, enum frame kind, uint8_t flags, uint32_t id, const uint8_t *payload,
                 size_t count) {
    struct stream *stream;
    switch (kind) {
    case HEADERS:
        if (!(flags & END_HEADERS) || !strip(kind, flags, &payload, &count)) return false;
        stream = open_stream(it, id);
        if (!decode(it, stream, payload, count)) return false;
        if (flags & END_STREAM) finish(it, stream);
        return true;
    case DATA:
        it->unreturned_window += (uint32_t)count;
        if (it->unreturned_window > CONNECTION_WINDOW / 32) {
            put_window_update(it, it->unreturned_window);
            it->unreturned_window = 0;
        }
        stream = find_stream(it, id);
        if (latency.is_on) latency_note(payload, count);
        if (stream && flags & END_STREAM) finish(it, stream);
        return true;
    case RESET:
        if ((stream = find_stream(it, id))) stream->id = 0;
        return true;
    case SETTINGS:
        if (flags & ACKNOWLEDGEMENT) return true;
        put_header(connection_reserve(it, HEADER_SIZE), 0, SETTINGS, ACKNOWLEDGEMENT, 0);
        it->output_length += HEADER_SIZE;
        return true;
    case PING:
        if (flags & ACKNOWLEDGEMENT || count != 8) return count == 8;
        put_bytes(put_header(connection_reserve(it, HEADER_SIZE + 8), 8, PING, ACKNOWLEDGEMENT, 0), payload, 8);
        it->output_length += HEADER_SIZE + 8;
        return true;
    case CONTINUATION: return false; // No request of a measurement is that long.
    default: return true;
    }
}

static uint32_t get_number(const uint8_t *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

bool http2_read(struct connection *it) {
    const uint8_t *from = it->input;
    size_t left = it->input_length;
    if (!it->has_preface) {
        if (left < PREFACE_LENGTH) return true;
        if (memcmp(from, preface, PREFACE_LENGTH)) return false;
        it->has_preface = true;
        from += PREFACE_LENGTH;
        left -= PREFACE_LENGTH;
    }
    while (left >= HEADER_SIZE) {
        size_t count = get_number(from) >> 8;
        if (count > MAX_FRAME_SIZE) return false;
        if (left < HEADER_SIZE + count) break;
        if (!take(it, from[3], from[4], get_number(from + 5) & 0x7FFFFFFF, from + HEADER_SIZE, count)) return false;
        from += HEADER_SIZE + count;
        left -= HEADER_SIZE + count;
    }
    memmove(it->input, from, left);
    it->input_length = left;
    return true;
}
