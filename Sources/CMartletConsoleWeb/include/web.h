#pragma once

#include <stddef.h>

/// A file of the console's pages.
typedef struct {
    /// The path below `Web`, such as `lib/dom.js`.
    const char *path;
    const unsigned char *bytes;
    size_t size;
} martlet_console_file;

/// The number of files.
size_t martlet_console_file_count(void);

/// The file at an index, which must be less than the number of files.
martlet_console_file martlet_console_file_at(size_t index);
