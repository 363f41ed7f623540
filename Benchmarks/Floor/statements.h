// What all files share that write or read rows.
#pragma once
#include "database.h"
#include <sqlite3.h>

extern sqlite3 *writer, *reader;
extern int64_t hub;

int64_t now_in_milliseconds(void);

sqlite3_stmt *prepare(sqlite3 *database, const char *sql);
// Runs a statement with values: i an integer, t a text, b a blob, both with their length. Returns the first column of
// its first row, and 0 where there is no row.
int64_t run(sqlite3_stmt *statement, const char *kinds, ...);
// A statement that inserts so many rows, which takes less than as many statements.
sqlite3_stmt *insertion(sqlite3_stmt *made[ROWS_AT_ONCE + 1], const char *sql, const char *row, int count);
void execute(sqlite3_stmt *statement);

struct member {
    int64_t tag, channel, sequence;
};

int64_t id_of_tag(struct text name);
// Takes the first tag from a list.
struct text take_tag(struct text *tags);
// Deletes rows in their order in the table, and the tags that nobody has then.
void remove_members(struct member members[], int count);

// A statement is prepared once, where it stands.
#define STATEMENT(database, sql) ({ static sqlite3_stmt *made; made ? made : (made = prepare(database, sql)); })
#define WRITE(sql, ...) run(STATEMENT(writer, sql), __VA_ARGS__)
#define READ(sql, ...) run(STATEMENT(reader, sql), __VA_ARGS__)
#define TAG_IS " WHERE hub = ? AND name = ? AND is_template = 0 AND platform = 'apns'"
