// The rows that the product writes for a registration and for a send, in the product's own tables, by the fewest
// statements that make the same rows.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_LENGTH = 32, ROWS_AT_ONCE = 64 };

struct text {
    const char *start;
    size_t length;
};

struct registration {
    // Sixteen bytes if the id was made here.
    struct text id;
    bool is_own;
    uint8_t token[TOKEN_LENGTH];
    // Joined by commas.
    struct text tags;
    // Known once it is stored.
    int64_t channel;
};

// Ends the program.
void die(const char *what);
// What stands between two marks in a text; its start is NULL where the first mark is missing.
struct text between(struct text text, const char *before, const char *behind);

// Reads hexadecimal digits.
void token_read(struct text text, uint8_t token[TOKEN_LENGTH]);

// Opens the data directory of a server that does not run, with one hub.
void database_open(const char *folder);
void database_begin(void);
// What was written since `database_begin` is on disk when it returns.
void database_commit(void);

// Stores registrations whose ids nobody has, at most ROWS_AT_ONCE.
void database_create(struct registration all[], int count);
// Replaces the registration with this id, or creates it.
void database_put(struct registration *);
// The progress of an import, with the bytes that its file is about to get.
void database_progress(int64_t offset, int64_t line, struct text pending);

// Stores a notification to a tag with its delivery. Returns the delivery's id.
int64_t database_accept(struct text body, struct text tag);
// Reads channels and tokens of the devices with a tag, at most so many. Returns their number.
int database_audience(struct text tag, int limit, int64_t channels[], uint8_t tokens[][TOKEN_LENGTH]);
// Records that all pushes of a delivery were accepted, the last to this channel, and that it is over.
void database_finish(int64_t delivery, int64_t last, int64_t count);
