#define _GNU_SOURCE
#include "pages.h"
#include "statements.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { END = 0, NUMBERS_OF_A_BLOCK = 1 << 16, BLOCK_SIZE = NUMBERS_OF_A_BLOCK / 8 };
#define NONE INT64_MAX

static int64_t delivery;
static char origin[64], map_path[4096];

// MARK: The audience

// A tag's members in the order of their channels.
struct cursor {
    sqlite3_stmt *statement;
    int64_t tag, channel;
};

static struct cursor included, excluded;
static int64_t last_channel;
static bool is_reading;

static int64_t id_of(struct text tag) {
    if (!tag.length) return 0;
    int64_t id = READ("SELECT id FROM tags" TAG_IS, "it", hub, tag.start, tag.length);
    if (!id) die("finding a tag");
    return id;
}

static void step(struct cursor *it) {
    int code = sqlite3_step(it->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) die(sqlite3_sql(it->statement));
    it->channel = code == SQLITE_ROW ? sqlite3_column_int64(it->statement, 0) : NONE;
}

// Starts behind the last channel.
static void start(struct cursor *it, sqlite3_stmt *statement) {
    it->statement = statement;
    sqlite3_bind_int64(statement, 1, it->tag);
    sqlite3_bind_int64(statement, 2, last_channel);
    step(it);
}

static void stop_reading(struct page *page, bool is_last) {
    sqlite3_reset(included.statement);
    if (excluded.tag) sqlite3_reset(excluded.statement);
    READ("COMMIT", "");
    is_reading = false;
    page->is_read = true;
    page->is_last = is_last;
}

static void start_reading(struct page *page) {
    READ("BEGIN", "");
    is_reading = true;
    page->change = READ("SELECT max(change) FROM registration_history", "");
    page->registration = READ("SELECT max(sequence) FROM registrations", "");
    start(&included, STATEMENT(reader, "SELECT m.channel, c.key FROM tag_members m CROSS JOIN channels c "
                                       "ON c.id = m.channel WHERE m.tag = ? AND m.channel > ? ORDER BY m.channel"));
    excluded.channel = NONE;
    if (!excluded.tag) return;
    start(&excluded, STATEMENT(reader, "SELECT channel FROM tag_members WHERE tag = ? AND channel > ? "
                                       "ORDER BY channel"));
}

void page_read(struct page *page, int limit) {
    if (!is_reading) start_reading(page);
    for (; limit; step(&included)) {
        while (excluded.channel < included.channel) step(&excluded);
        if (included.channel == NONE) return stop_reading(page, true);
        if (excluded.channel == included.channel) continue;
        if (page->count == page->size) return stop_reading(page, false);
        struct device *device = &page->devices[page->count++];
        device->page = page;
        device->channel = last_channel = included.channel;
        memcpy(device->token, sqlite3_column_blob(included.statement, 1), TOKEN_LENGTH);
        limit--;
    }
}

// MARK: Progress

// A bit for each channel, in a file that outlives the process.
static uint8_t *map;
static size_t map_size;

static void open_map(const char *folder) {
    int64_t blocks = READ("SELECT max(id) FROM channels", "") / NUMBERS_OF_A_BLOCK + 1;
    map_size = (size_t)blocks * BLOCK_SIZE;
    snprintf(map_path, sizeof map_path, "%s/progress/%lld", folder, (long long)delivery);
    int file = open(map_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || posix_fallocate(file, 0, (off_t)map_size)) die("making a progress map");
    map = mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) die("mapping a progress map");
    close(file);
}

void page_reach(const struct device *it) {
    map[it->channel / 8] |= (uint8_t)(1 << it->channel % 8);
}

// What takes the place of the map: the product's form of a block in which most have been reached.
static void record_map(void) {
    static const uint8_t nobody[BLOCK_SIZE];
    for (size_t at = 0; at < map_size; at += BLOCK_SIZE) {
        uint8_t bytes[1 + BLOCK_SIZE] = {0};
        memcpy(bytes + 1, map + at, BLOCK_SIZE);
        if (!memcmp(map + at, nobody, BLOCK_SIZE)) continue;
        WRITE("INSERT INTO reached (delivery, place, members) VALUES (?, ?, ?)", "iib", delivery,
              (int64_t)(at / BLOCK_SIZE), bytes, sizeof bytes);
    }
}

void pages_begin(int64_t its_delivery, struct text expression, const char *folder, const char *its_origin) {
    struct text other = between(expression, " && !", "\n");
    delivery = its_delivery;
    snprintf(origin, sizeof origin, "%s", its_origin);
    if (sqlite3_exec(reader, "PRAGMA mmap_size = 1073741824", NULL, NULL, NULL)) die("mapping the database");
    included.tag = id_of((struct text){expression.start, expression.length - other.length - (other.start ? 5 : 0)});
    excluded.tag = id_of(other);
    last_channel = 0;
    open_map(folder);
}

// MARK: Records

// The product's values: how many refusals a row has at most, and how many devices are removed in a transaction.
enum { REFUSALS_OF_A_ROW = 512, BYTES_OF_A_REFUSAL = 80, REMOVED_AT_ONCE = 2000, GONE_LIMIT = 50000, TAGS_LIMIT = 64 };
// Flags of a value: a connection, a handle in bytes, and an id of the product's own.
enum { HAS_CONNECTION_HANDLE_AND_ID = 0x3E, HAS_ORIGIN_AND_STATUS_AND_IS_REMOVED = 0x07, ID_LENGTH = 16 };

static struct gone {
    int64_t channel, sequence, created_at;
    uint8_t token[TOKEN_LENGTH], id[ID_LENGTH];
    char tags[TAGS_LIMIT];
    size_t tags_length;
} gone[GONE_LIMIT];
static int gone_count;

static uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t length) {
    memcpy(to, bytes, length);
    return to + length;
}

static uint8_t *put_number(uint8_t *to, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *to++ = (uint8_t)number | 0x80;
    *to++ = (uint8_t)number;
    return to;
}

static uint8_t *put_integer(uint8_t *to, int64_t number) {
    return put_number(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static uint8_t *put_text(uint8_t *to, const char *text) {
    return put_bytes(put_number(to, strlen(text)), text, strlen(text));
}

// Reads what the value and a removal are to have of a registration, with one statement.
static void find(const struct refusal *refusal, struct gone *it) {
    sqlite3_stmt *found = STATEMENT(
        writer, "SELECT r.sequence, r.id, r.tags, r.created_at, c.registered_at FROM registrations r CROSS JOIN "
                "channels c ON c.id = r.channel WHERE r.channel = ? AND r.template IS NULL ORDER BY r.sequence LIMIT 1");
    sqlite3_bind_int64(found, 1, refusal->device->channel);
    if (sqlite3_step(found) != SQLITE_ROW || sqlite3_column_bytes(found, 1) != ID_LENGTH) die("finding a registration");
    it->sequence = sqlite3_column_int64(found, 0);
    it->channel = refusal->device->channel;
    it->created_at = sqlite3_column_int64(found, 3);
    memcpy(it->token, refusal->device->token, TOKEN_LENGTH);
    memcpy(it->id, sqlite3_column_blob(found, 1), ID_LENGTH);
    it->tags_length = (size_t)sqlite3_column_bytes(found, 2);
    if (it->tags_length > TAGS_LIMIT || gone_count == GONE_LIMIT - 1) die("finding room for a registration");
    memcpy(it->tags, sqlite3_column_text(found, 2), it->tags_length);
    // Who has registered since is there again.
    if (sqlite3_column_int64(found, 4) <= refusal->gone_since) gone_count++;
    sqlite3_reset(found);
}

static void record_refusals(const struct refusal refusals[], int count) {
    static uint8_t bytes[REFUSALS_OF_A_ROW * BYTES_OF_A_REFUSAL];
    const struct refusal *last = &refusals[count - 1];
    int64_t channel = 0, at = 0;
    uint8_t *to = put_bytes(bytes, (uint8_t[]){1, 1, HAS_ORIGIN_AND_STATUS_AND_IS_REMOVED}, 3);
    to = put_integer(put_text(put_text(to, "ExpiredChannel"), "Unregistered"), 1);
    to = put_number(put_integer(put_text(to, origin), 410), (uint64_t)count);
    for (const struct refusal *it = refusals; it <= last; it++) {
        struct gone *registration = &gone[gone_count];
        find(it, registration);
        *to++ = HAS_CONNECTION_HANDLE_AND_ID;
        to = put_number(to, (uint64_t)(it->device->channel - channel));
        *to++ = 0; // The kind above.
        to = put_integer(put_integer(to, it->answered_at - at), it->connection);
        *to++ = TOKEN_LENGTH;
        to = put_bytes(put_bytes(to, it->device->token, TOKEN_LENGTH), registration->id, ID_LENGTH);
        channel = it->device->channel;
        at = it->answered_at;
    }
    *to++ = 0; // No attempts.
    WRITE("INSERT INTO page_records (delivery, last_channel, last_registration, refusals, attempts, records) "
          "VALUES (?, ?, 0, ?, 0, ?)", "iiib", delivery, last->device->channel, (int64_t)count, bytes,
          (size_t)(to - bytes));
}

static uint8_t *put_long_text(uint8_t *to, const char *text) {
    return put_bytes(put_bytes(to, (uint8_t[]){0, 0, 0, (uint8_t)strlen(text)}, 4), text, strlen(text));
}

static uint8_t *put_count(uint8_t *to, const char *name, int count) {
    char text[20];
    snprintf(text, sizeof text, "%d", count);
    return put_long_text(name ? put_long_text(to, name) : to, text);
}

static void record_range(const struct page *it) {
    uint8_t summary[256], *to = put_count(summary, NULL, it->refused ? 4 : 2);
    if (it->refused) to = put_count(to, "ExpiredChannel", it->refused);
    to = put_long_text(put_count(put_count(to, "Success", it->count - it->refused), NULL, 0), origin);
    WRITE("INSERT INTO ranges (delivery, last_channel, last_registration, change, registration, started_at, ended_at, "
          "summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "iiiiiiib", delivery,
          it->is_last ? NONE : it->devices[it->count - 1].channel, it->is_last ? NONE : (int64_t)0, it->change,
          it->registration, it->started_at, it->ended_at, summary, (size_t)(to - summary));
}

static void record_count(const char *outcome, int count) {
    if (count)
        WRITE("INSERT INTO outcome_counts (delivery, outcome, count) VALUES (?, ?, ?) "
              "ON CONFLICT (delivery, outcome) DO UPDATE SET count = count + excluded.count", "iti", delivery, outcome,
              strlen(outcome), (int64_t)count);
}

static int compare(const void *left, const void *right) {
    int64_t a = ((const struct refusal *)left)->device->channel, b = ((const struct refusal *)right)->device->channel;
    return (a > b) - (a < b);
}

void pages_record(struct page *const pages[], int count) {
    const struct page *last = pages[count - 1];
    int sent = 0, refused = 0;
    database_begin();
    for (int i = 0; i < count; i++) {
        struct page *it = pages[i];
        sent += it->count;
        refused += it->refused;
        record_range(it);
        qsort(it->refusals, (size_t)it->refused, sizeof *it->refusals, compare);
        for (int at = 0, left; (left = it->refused - at) > 0; at += REFUSALS_OF_A_ROW)
            record_refusals(&it->refusals[at], left < REFUSALS_OF_A_ROW ? left : REFUSALS_OF_A_ROW);
    }
    record_count("Success", sent - refused);
    record_count("ExpiredChannel", refused);
    WRITE("UPDATE deliveries SET cursor_channel = ?1, is_fanned_out = ?2, is_final = ?2, state = iif(?2, 'Completed', "
          "'Processing'), started_at = ifnull(started_at, ?3), ended_at = iif(?2, ?4, NULL) WHERE id = ?5", "iiiii",
          last->devices[last->count - 1].channel, (int64_t)last->is_last, pages[0]->started_at, last->ended_at,
          delivery);
    if (refused)
        WRITE("UPDATE notifications SET has_refusals = 1 WHERE sequence = (SELECT notification FROM deliveries WHERE "
              "id = ?) AND has_refusals = 0", "i", delivery);
    if (last->is_last) {
        record_map();
        WRITE("UPDATE notifications SET finished_at = ? WHERE sequence = (SELECT notification FROM deliveries WHERE "
              "id = ?)", "ii", last->ended_at, delivery);
    }
    database_commit();
    if (last->is_last && (munmap(map, map_size) || unlink(map_path))) die("removing a progress map");
}

// MARK: Removals

static void remember(const struct gone all[], int count, int64_t now) {
    static sqlite3_stmt *history[ROWS_AT_ONCE + 1], *tombstones[ROWS_AT_ONCE + 1], *former[ROWS_AT_ONCE + 1];
    sqlite3_stmt *statement = insertion(
        history, "INSERT INTO registration_history (hub, sequence, id, platform, channel, handle, tags, created_at, "
                 "ended_at, cause)", "(?, ?, ?, 'apns', ?, ?, ?, ?, ?, 'unregistered')", count);
    int at = 0;
    for (const struct gone *it = all; it < all + count; it++) {
        sqlite3_bind_int64(statement, ++at, hub);
        sqlite3_bind_int64(statement, ++at, it->sequence);
        sqlite3_bind_blob(statement, ++at, it->id, ID_LENGTH, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, it->channel);
        sqlite3_bind_blob(statement, ++at, it->token, TOKEN_LENGTH, SQLITE_STATIC);
        sqlite3_bind_text(statement, ++at, it->tags, (int)it->tags_length, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, it->created_at);
        sqlite3_bind_int64(statement, ++at, now);
    }
    execute(statement);
    statement = insertion(tombstones, "INSERT INTO tombstones (hub, id, gone_at)", "(?, ?, ?)", count);
    at = 0;
    for (const struct gone *it = all; it < all + count; it++) {
        sqlite3_bind_int64(statement, ++at, hub);
        sqlite3_bind_blob(statement, ++at, it->id, ID_LENGTH, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, now);
    }
    execute(statement);
    statement = insertion(
        former, "INSERT INTO former_channels (id, hub, platform, ending)", "(?, ?, 'apns', ?)", count);
    at = 0;
    for (const struct gone *it = all; it < all + count; it++) {
        sqlite3_bind_int64(statement, ++at, it->channel);
        sqlite3_bind_int64(statement, ++at, hub);
        sqlite3_bind_blob(statement, ++at, it->token, TOKEN_LENGTH, SQLITE_STATIC);
    }
    execute(statement);
}

void pages_remove_gone(bool are_all) {
    static struct member members[GONE_LIMIT * 4];
    int count = 0;
    if (!gone_count || (gone_count < REMOVED_AT_ONCE && !are_all)) return;
    database_begin();
    int64_t now = now_in_milliseconds();
    for (int at = 0, left; (left = gone_count - at) > 0; at += ROWS_AT_ONCE)
        remember(gone + at, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, now);
    for (const struct gone *it = gone; it < gone + gone_count; it++) {
        members[count++] = (struct member){id_of_tag((struct text){"*", 1}), it->channel, it->sequence};
        for (struct text tags = {it->tags, it->tags_length}; tags.length;) {
            if (count == GONE_LIMIT * 4) die("finding room for tags");
            members[count++] = (struct member){id_of_tag(take_tag(&tags)), it->channel, it->sequence};
        }
        WRITE("DELETE FROM registrations WHERE sequence = ?", "i", it->sequence);
    }
    for (const struct gone *it = gone; it < gone + gone_count; it++)
        WRITE("DELETE FROM channels WHERE id = ?", "i", it->channel);
    remove_members(members, count);
    database_commit();
    gone_count = 0;
}
