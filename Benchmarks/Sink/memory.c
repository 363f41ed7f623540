#include "memory.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_SIZE = 1024 };

// What stands before the bytes that are lent.
union head {
    struct {
        size_t size;
        union head *next;
    };
    max_align_t alignment;
};

static union head *idle;

static void *take(size_t size, void *user_data) {
    (void)user_data;
    union head *head = size <= PIECE_SIZE ? idle : NULL;
    if (head) {
        idle = head->next;
    } else {
        size_t room = size <= PIECE_SIZE ? PIECE_SIZE : size;
        if (!(head = malloc(sizeof *head + room))) return NULL;
        head->size = room;
    }
    return head + 1;
}

static void give_back(void *bytes, void *user_data) {
    (void)user_data;
    if (!bytes) return;
    union head *head = (union head *)bytes - 1;
    if (head->size > PIECE_SIZE) return free(head);
    head->next = idle;
    idle = head;
}

static void *take_zeroed(size_t count, size_t size, void *user_data) {
    void *bytes = take(count * size, user_data);
    return bytes ? memset(bytes, 0, count * size) : NULL;
}

static void *resize(void *bytes, size_t size, void *user_data) {
    if (!bytes) return take(size, user_data);
    size_t old = ((union head *)bytes - 1)->size;
    if (size <= old) return bytes;
    void *larger = take(size, user_data);
    if (!larger) return NULL;
    memcpy(larger, bytes, old);
    give_back(bytes, user_data);
    return larger;
}

nghttp2_mem memory = {NULL, take, give_back, take_zeroed, resize};
