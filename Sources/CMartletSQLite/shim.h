#pragma once

#include <sqlite3.h>

// Macro with a function-pointer cast, not imported into Swift.
static inline sqlite3_destructor_type martlet_SQLITE_TRANSIENT(void) { return SQLITE_TRANSIENT; }

// Variadic, so not imported into Swift.
static inline int martlet_sqlite3_db_config_int(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}
