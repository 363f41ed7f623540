#include "failure.h"
#include <stdio.h>
#include <string.h>

struct failure failure;

void failure_set(unsigned int percent, long long moment) {
    failure.share = percent;
    int length = snprintf(
        failure.body, sizeof failure.body, "{\"reason\":\"Unregistered\",\"timestamp\":%lld}", moment);
    failure.body_length = (size_t)length;
}

static unsigned int digit(uint8_t character) {
    return character <= '9' ? character - '0' : (character | 0x20) - 'a' + 10;
}

bool failure_is_for(const struct service *service, const uint8_t *path) {
    if (service != service_first()) return false;
    unsigned int begin = 0;
    for (size_t i = 0; i < 4; i++) begin = begin << 4 | digit(path[strlen(service->prefix) + i]);
    return begin * 100 < failure.share << 16;
}
