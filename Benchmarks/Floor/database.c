#define _GNU_SOURCE
#include "statements.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { DAY = 24 * 3600 * 1000, TAGS_OF_A_REGISTRATION = 10, KNOWN_TAGS = 4096, KNOWN_TAG_LIMIT = 40 };

sqlite3 *writer, *reader;
int64_t hub;
static int64_t last_tag, stored_last_tag;

void die(const char *what) {
    fprintf(stderr, "floor: %s failed: %s\n", what, writer ? sqlite3_errmsg(writer) : "");
    exit(1);
}

struct text between(struct text text, const char *before, const char *behind) {
    const char *end = text.start + text.length, *start = memmem(text.start, text.length, before, strlen(before));
    if (!start) return (struct text){0};
    start += strlen(before);
    const char *stop = memmem(start, (size_t)(end - start), behind, strlen(behind));
    return (struct text){start, (size_t)((stop ? stop : end) - start)};
}

static uint8_t digit(char character) {
    return (uint8_t)(character <= '9' ? character - '0' : (character | 0x20) - 'a' + 10);
}

void token_read(struct text text, uint8_t token[TOKEN_LENGTH]) {
    if (text.length != 2 * TOKEN_LENGTH) die("reading a token");
    for (int i = 0; i < TOKEN_LENGTH; i++)
        token[i] = (uint8_t)(digit(text.start[2 * i]) << 4 | digit(text.start[2 * i + 1]));
}

int64_t now_in_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// MARK: Statements

sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)) die(sql);
    return statement;
}

int64_t run(sqlite3_stmt *statement, const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    for (int index = 1; *kinds; kinds++, index++) {
        if (*kinds == 'i') {
            sqlite3_bind_int64(statement, index, va_arg(values, int64_t));
            continue;
        }
        const void *start = va_arg(values, const void *);
        int length = (int)va_arg(values, size_t);
        if (*kinds == 't') sqlite3_bind_text(statement, index, start, length, SQLITE_STATIC);
        else sqlite3_bind_blob(statement, index, start, length, SQLITE_STATIC);
    }
    va_end(values);
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) die(sqlite3_sql(statement));
    int64_t value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return value;
}

// MARK: Transactions

static sqlite3 *open_database(const char *path, const char *settings) {
    sqlite3 *database;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) die(path);
    if (sqlite3_exec(database, settings, NULL, NULL, NULL)) die(settings);
    return database;
}

// The settings are those of SQLiteStorage. Checkpoints are SQLite's own, at the size at which the product makes them.
void database_open(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/martlet.db", folder);
    writer = open_database(
        path, "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
              "PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864; PRAGMA synchronous = FULL;"
              "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824;");
    reader = open_database(path, "PRAGMA query_only = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;");
    hub = WRITE("SELECT id FROM hubs", "");
    if (!hub) die("finding the hub");
    // Who sends is the first author, whom the product adds with the first send.
    WRITE("INSERT OR IGNORE INTO authors (id, name) VALUES (1, 'floor')", "");
    last_tag = stored_last_tag = WRITE("SELECT last FROM tag_counter", "");
}

void database_begin(void) {
    WRITE("BEGIN IMMEDIATE", "");
}

void database_commit(void) {
    if (stored_last_tag != last_tag) WRITE("UPDATE tag_counter SET last = ?", "i", last_tag);
    stored_last_tag = last_tag;
    WRITE("COMMIT", "");
}

// MARK: Registrations

sqlite3_stmt *insertion(sqlite3_stmt *made[ROWS_AT_ONCE + 1], const char *sql, const char *row, int count) {
    if (made[count]) return made[count];
    char text[300 + ROWS_AT_ONCE * 60];
    int length = sprintf(text, "%s VALUES %s", sql, row);
    for (int i = 1; i < count; i++) length += sprintf(text + length, ", %s", row);
    return made[count] = prepare(writer, text);
}

void execute(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) die(sqlite3_sql(statement));
    sqlite3_reset(statement);
}

// The tags that were used last, by a hash of their names.
static struct known_tag {
    char name[KNOWN_TAG_LIMIT];
    size_t length;
    int64_t id;
} known_tags[KNOWN_TAGS];

static struct known_tag *place_of(struct text name) {
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < name.length; i++) hash = (hash ^ (uint8_t)name.start[i]) * 16777619;
    return &known_tags[hash % KNOWN_TAGS];
}

int64_t id_of_tag(struct text name) {
    struct known_tag *known = place_of(name);
    if (known->length == name.length && !memcmp(known->name, name.start, name.length)) return known->id;
    int64_t id = last_tag + 1;
    WRITE("INSERT INTO tags (hub, name, is_template, platform, id) VALUES (?, ?, 0, 'apns', ?) ON CONFLICT DO NOTHING",
          "iti", hub, name.start, name.length, id);
    if (sqlite3_changes(writer)) last_tag = id;
    else id = WRITE("SELECT id FROM tags" TAG_IS, "it", hub, name.start, name.length);
    if (name.length > KNOWN_TAG_LIMIT) return id;
    memcpy(known->name, name.start, name.length);
    known->length = name.length;
    return known->id = id;
}

static void remove_member(struct text tag, int64_t channel, int64_t sequence) {
    WRITE("DELETE FROM tag_members WHERE tag = ? AND channel = ? AND registration = ?", "iii", id_of_tag(tag), channel,
          sequence);
    WRITE("DELETE FROM tags" TAG_IS " AND NOT EXISTS (SELECT 1 FROM tag_members WHERE tag = tags.id)", "it", hub,
          tag.start, tag.length);
    if (sqlite3_changes(writer)) place_of(tag)->length = 0;
}

static int compare(const void *left, const void *right) {
    const struct member *a = left, *b = right;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

// Inserts rows in their order in the table.
static void add_members(struct member members[], int count) {
    static sqlite3_stmt *made[ROWS_AT_ONCE + 1];
    qsort(members, (size_t)count, sizeof *members, compare);
    for (int first = 0; first < count; first += ROWS_AT_ONCE) {
        int rows = count - first < ROWS_AT_ONCE ? count - first : ROWS_AT_ONCE, at = 0;
        sqlite3_stmt *statement = insertion(
            made, "INSERT OR ROLLBACK INTO tag_members (tag, channel, registration)", "(?, ?, ?)", rows);
        for (const struct member *it = members + first; it < members + first + rows; it++) {
            sqlite3_bind_int64(statement, ++at, it->tag);
            sqlite3_bind_int64(statement, ++at, it->channel);
            sqlite3_bind_int64(statement, ++at, it->sequence);
        }
        execute(statement);
    }
}

void remove_members(struct member members[], int count) {
    qsort(members, (size_t)count, sizeof *members, compare);
    for (const struct member *it = members; it < members + count; it++)
        WRITE("DELETE FROM tag_members WHERE tag = ? AND channel = ? AND registration = ?", "iii", it->tag, it->channel,
              it->sequence);
    WRITE("DELETE FROM tags WHERE NOT EXISTS (SELECT 1 FROM tag_members WHERE tag = tags.id)", "");
    if (sqlite3_changes(writer)) memset(known_tags, 0, sizeof known_tags);
}

struct text take_tag(struct text *tags) {
    const char *comma = tags->length ? memchr(tags->start, ',', tags->length) : NULL;
    struct text tag = {tags->start, comma ? (size_t)(comma - tags->start) : tags->length};
    *tags = (struct text){tag.start + tag.length + !!comma, tags->length - tag.length - !!comma};
    return tag;
}

static void find_channels(struct registration all[], int count, int64_t now) {
    static sqlite3_stmt *made[ROWS_AT_ONCE + 1];
    struct registration *missing[ROWS_AT_ONCE];
    int missing_count = 0, at = 0;
    for (struct registration *it = all; it < all + count; it++) {
        it->channel = WRITE("SELECT id FROM channels WHERE hub = ? AND platform = 'apns' AND key = ?", "ib", hub,
                            it->token, (size_t)TOKEN_LENGTH);
        if (!it->channel) missing[missing_count++] = it;
        else WRITE("UPDATE channels SET registered_at = ?, is_suspected = NULL WHERE id = ?", "ii", now, it->channel);
    }
    if (!missing_count) return;
    sqlite3_stmt *statement = insertion(
        made, "INSERT INTO channels (hub, platform, key, registered_at)", "(?, 'apns', ?, ?)", missing_count);
    for (int i = 0; i < missing_count; i++) {
        sqlite3_bind_int64(statement, ++at, hub);
        sqlite3_bind_blob(statement, ++at, missing[i]->token, TOKEN_LENGTH, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, now);
    }
    execute(statement);
    int64_t first = sqlite3_last_insert_rowid(writer) - missing_count + 1;
    for (int i = 0; i < missing_count; i++) missing[i]->channel = first + i;
}

void database_create(struct registration all[], int count) {
    static sqlite3_stmt *made[ROWS_AT_ONCE + 1];
    struct member members[ROWS_AT_ONCE * TAGS_OF_A_REGISTRATION];
    int64_t now = now_in_milliseconds();
    int at = 0, member_count = 0;
    find_channels(all, count, now);
    sqlite3_stmt *statement = insertion(
        made, "INSERT INTO registrations (hub, id, channel, version, tags, created_at, updated_at)",
        "(?, ?, ?, 1, ?, ?, ?)", count);
    for (const struct registration *it = all; it < all + count; it++) {
        sqlite3_bind_int64(statement, ++at, hub);
        if (it->is_own) sqlite3_bind_blob(statement, ++at, it->id.start, (int)it->id.length, SQLITE_STATIC);
        else sqlite3_bind_text(statement, ++at, it->id.start, (int)it->id.length, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, it->channel);
        sqlite3_bind_text(statement, ++at, it->tags.start, (int)it->tags.length, SQLITE_STATIC);
        sqlite3_bind_int64(statement, ++at, now);
        sqlite3_bind_int64(statement, ++at, now);
    }
    execute(statement);
    int64_t sequence = sqlite3_last_insert_rowid(writer) - count;
    for (const struct registration *it = all; it < all + count; it++) {
        members[member_count++] = (struct member){id_of_tag((struct text){"*", 1}), it->channel, ++sequence};
        for (struct text tags = it->tags; tags.length;) {
            if (member_count == ROWS_AT_ONCE * TAGS_OF_A_REGISTRATION) die("finding room for tags");
            members[member_count++] = (struct member){id_of_tag(take_tag(&tags)), it->channel, sequence};
        }
    }
    add_members(members, member_count);
}

void database_put(struct registration *it) {
    sqlite3_stmt *stored = STATEMENT(
        writer, "SELECT sequence, channel, created_at, tags FROM registrations WHERE hub = ? AND id = ?");
    sqlite3_bind_int64(stored, 1, hub);
    sqlite3_bind_text(stored, 2, it->id.start, (int)it->id.length, SQLITE_STATIC);
    if (sqlite3_step(stored) != SQLITE_ROW) {
        sqlite3_reset(stored);
        return database_create(it, 1);
    }
    int64_t now = now_in_milliseconds(), sequence = sqlite3_column_int64(stored, 0);
    int64_t channel = sqlite3_column_int64(stored, 1), created = sqlite3_column_int64(stored, 2);
    char copy[8192];
    struct text old = {copy, (size_t)sqlite3_column_bytes(stored, 3)};
    if (old.length > sizeof copy) die("reading tags");
    memcpy(copy, sqlite3_column_text(stored, 3), old.length);
    sqlite3_reset(stored);
    WRITE("UPDATE channels SET registered_at = ? WHERE id = ? AND is_suspected IS NULL", "ii", now, channel);
    WRITE("INSERT INTO registration_history (hub, sequence, id, platform, channel, handle, tags, created_at, ended_at, "
          "cause) VALUES (?, ?, ?, 'apns', ?, ?, ?, ?, ?, 'changed')",
          "iitibtii", hub, sequence, it->id.start, it->id.length, channel, it->token, (size_t)TOKEN_LENGTH, old.start,
          old.length, created, now);
    WRITE("UPDATE registrations SET version = version + 1, tags = ?, updated_at = ? WHERE sequence = ?", "tii",
          it->tags.start, it->tags.length, now, sequence);
    // They have the same places, as long as one client writes them.
    for (struct text tags = it->tags; tags.length;) {
        struct text tag = take_tag(&tags), former = take_tag(&old);
        if (tag.length == former.length && !memcmp(tag.start, former.start, tag.length)) continue;
        remove_member(former, channel, sequence);
        add_members(&(struct member){id_of_tag(tag), channel, sequence}, 1);
    }
}

void database_progress(int64_t offset, int64_t line, struct text pending) {
    WRITE("INSERT INTO jobs (id, hub, kind, sealed_addresses, output, directory, created_at, status, is_final, "
          "progress, updated_at) VALUES ('floor', ?, 'ImportCreateRegistrations', zeroblob(300), 'devices', 'floor', 0, "
          "'Running', 0, 0, 0) ON CONFLICT DO NOTHING", "i", hub);
    WRITE("UPDATE jobs SET input_offset = ?, line = ?, pending_output = ? WHERE hub = ? AND id = 'floor'", "iibi",
          offset, line, pending.start, pending.length, hub);
}

// MARK: Sends

int64_t database_accept(struct text body, struct text tag) {
    int64_t now = now_in_milliseconds();
    uint8_t id[16];
    if (getrandom(id, sizeof id, 0) != sizeof id) die("getrandom");
    WRITE("INSERT INTO notifications (hub, id, platform, expression, accepted_at, expires_at, is_confidential, "
          "states_expiry, begun_at, author) VALUES (?1, ?2, 'apns', ?3, ?4, ?5, 0, 0, ?4, 1)",
          "ibtii", hub, id, sizeof id, tag.start, tag.length, now, now + DAY);
    int64_t notification = sqlite3_last_insert_rowid(writer);
    WRITE("INSERT INTO messages (notification, body, fields) VALUES (?, ?, x'')", "ib", notification, body.start,
          body.length);
    WRITE("INSERT INTO deliveries (notification, platform, last_channel, last_registration, state, is_final, "
          "cursor_channel, cursor_registration, is_fanned_out) SELECT ?, 'apns', max(channel), 0, 'Enqueued', 0, 0, "
          "0, 0 FROM tag_members WHERE tag = (SELECT id FROM tags" TAG_IS ")", "iit", notification, hub, "*", (size_t)1);
    return sqlite3_last_insert_rowid(writer);
}

int database_audience(struct text tag, int limit, int64_t channels[], uint8_t tokens[][TOKEN_LENGTH]) {
    sqlite3_stmt *members = STATEMENT(
        reader, "SELECT c.id, c.key FROM tag_members m CROSS JOIN channels c ON c.id = m.channel "
                "WHERE m.tag = (SELECT id FROM tags" TAG_IS ") ORDER BY m.channel");
    sqlite3_bind_int64(members, 1, hub);
    sqlite3_bind_text(members, 2, tag.start, (int)tag.length, SQLITE_STATIC);
    int count = 0;
    for (; count < limit && sqlite3_step(members) == SQLITE_ROW; count++) {
        channels[count] = sqlite3_column_int64(members, 0);
        memcpy(tokens[count], sqlite3_column_blob(members, 1), TOKEN_LENGTH);
    }
    sqlite3_reset(members);
    return count;
}

// The blobs are as long as the product's: what the page sent where and with which outcome, and who was reached.
void database_finish(int64_t delivery, int64_t last, int64_t count) {
    int64_t now = now_in_milliseconds();
    WRITE("UPDATE deliveries SET cursor_channel = ?1, is_fanned_out = 1, state = 'Completed', is_final = 1, "
          "started_at = ?2, ended_at = ?2 WHERE id = ?3", "iii", last, now, delivery);
    WRITE("INSERT INTO outcome_counts (delivery, outcome, count) VALUES (?, 'Success', ?)", "ii", delivery, count);
    WRITE("INSERT INTO ranges (delivery, last_channel, last_registration, change, registration, started_at, ended_at, "
          "summary) VALUES (?1, 0x7fffffffffffffff, 0x7fffffffffffffff, 0, ?2, ?3, ?3, zeroblob(53))", "iii", delivery,
          last, now);
    WRITE("INSERT INTO reached (delivery, place, members) VALUES (?, 0, zeroblob(5))", "i", delivery);
    WRITE("UPDATE notifications SET finished_at = ? WHERE sequence = "
          "(SELECT notification FROM deliveries WHERE id = ?)", "ii", now, delivery);
}
