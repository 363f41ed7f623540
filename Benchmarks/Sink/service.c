#include "service.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct service services[] = {
    {.prefix = "/3/device/", .suffix = "", .least_between = 64, .needs_authorization = true, .status = 200},
    {.prefix = "/v1/projects/", .suffix = "/messages:send", .least_between = 1, .needs_authorization = true,
     .status = 200, .fields = {{"content-type", "application/json; charset=UTF-8"}},
     .body = "{\n  \"name\": \"projects/martlet-example/messages/0:1763720000000000%0123456789abcdef\"\n}\n"},
    {.prefix = "/messaging/registrations/", .suffix = "/messages", .least_between = 100, .needs_authorization = true,
     .status = 200,
     .fields = {{"content-type", "application/json"}, {"x-amzn-requestid", "01234567-89ab-4def-8123-0123456789ab"}},
     // The registration id that is good from now on, which most often is the one that was sent to.
     .body = "{\"registrationID\":\"\"}", .echo_at = 19},
    {.prefix = "/?token=", .suffix = "", .least_between = 100, .needs_authorization = true, .status = 200,
     .fields = {{"x-wns-status", "received"}, {"x-wns-notificationstatus", "received"},
                {"x-wns-msg-id", "0123456789ABCDEF"}, {"x-wns-debug-trace", "SN1WNP10021701"}}},
    {.prefix = "/throttledthirdparty/", .suffix = "", .least_between = 60, .status = 200,
     .fields = {{"x-notificationstatus", "Received"}, {"x-subscriptionstatus", "Active"},
                {"x-deviceconnectionstatus", "Connected"}}},
    {.prefix = "/wpush/v2/", .suffix = "", .least_between = 100, .needs_authorization = true, .status = 201,
     .fields = {{"location", "https://127.0.0.1/m/gAAAAABh0123456789abcdef0123456789abcdef"}, {"ttl", "86400"}}},
};
enum { SERVICE_COUNT = sizeof services / sizeof *services };

static uint8_t *put_text(uint8_t *to, const char *text) {
    size_t length = strlen(text);
    if (length >= 127) abort(); // A longer one has a longer length.
    *to++ = (uint8_t)length;
    memcpy(to, text, length);
    return to + length;
}

static void make_block(struct service *it) {
    uint8_t *to = it->block;
    if (it->status == 200) {
        *to++ = 0x88; // :status 200 stands in the static table
    } else {
        char status[4];
        snprintf(status, sizeof status, "%d", it->status);
        *to++ = 0x08;
        to = put_text(to, status);
    }
    for (const struct field *field = it->fields; field->name; field++) {
        *to++ = 0;
        to = put_text(put_text(to, field->name), field->value);
    }
    it->block_length = (size_t)(to - it->block);
}

static void make_response(struct service *it) {
    FILE *text = fmemopen(it->response, ANSWER_LIMIT, "w");
    if (!text) abort();
    fprintf(text, "HTTP/1.1 %d %s\r\n", it->status, it->status == 200 ? "OK" : "Created");
    for (const struct field *field = it->fields; field->name; field++)
        fprintf(text, "%s: %s\r\n", field->name, field->value);
    fprintf(text, "content-length: %zu\r\n\r\n%s", it->body_length, it->body ? it->body : "");
    it->response_length = (size_t)ftell(text);
    if (fclose(text) || it->response_length >= ANSWER_LIMIT) abort();
}

void services_start(void) {
    for (int i = 0; i < SERVICE_COUNT; i++) {
        services[i].body_length = services[i].body ? strlen(services[i].body) : 0;
        make_block(&services[i]);
        make_response(&services[i]);
    }
}

const struct service *service_first(void) {
    return services;
}

const struct service *service_of(const void *path, size_t length) {
    for (int i = 0; i < SERVICE_COUNT; i++) {
        const struct service *it = &services[i];
        size_t front = strlen(it->prefix), back = strlen(it->suffix);
        if (length < front + it->least_between + back || memcmp(path, it->prefix, front)) continue;
        if (!memcmp((const char *)path + length - back, it->suffix, back)) return it;
    }
    return NULL;
}
