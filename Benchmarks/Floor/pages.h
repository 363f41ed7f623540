// The rows of a broadcast: the pages of its audience, and what they have come to.
#pragma once
#include "database.h"

// The product's sizes, because each page has a row. The first is small, so that a small send is over soon.
enum { PAGE_SIZE = 5000, FIRST_PAGE_SIZE = 50 };

struct device {
    struct page *page;
    int64_t channel;
    uint8_t token[TOKEN_LENGTH];
};

struct refusal {
    const struct device *device;
    int64_t gone_since, answered_at;
    int connection;
};

struct page {
    int size, count, sent, answered, refused;
    bool is_read, is_last;
    int64_t started_at, ended_at;
    // What the audience was read from: the last change and the last registration.
    int64_t change, registration;
    struct device devices[PAGE_SIZE];
    struct refusal refusals[PAGE_SIZE];
};

// Begins an audience: all with a tag, or with "a && !b" those of them that do not have another one. The origin is what
// the rows say that pushes went to.
void pages_begin(int64_t delivery, struct text expression, const char *folder, const char *origin);
// Reads the next devices of a page, at most so many.
void page_read(struct page *, int limit);
// Keeps that a device was reached where the end of the process does not lose it.
void page_reach(const struct device *);
// Records pages in a row, in one transaction.
void pages_record(struct page *const pages[], int count);
// Removes devices that are gone by the pages that were recorded, in one transaction: if they are enough for one, or
// if there will be no more of them.
void pages_remove_gone(bool are_all);
