// Written by Scripts/console-files: the files of Web, as a table.
#include "web.h"

// #embed is of C23; every compiler of Swift 6.2 and later has it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "Web/index.html"
};

static const martlet_console_file files[] = {
    {"index.html", file0, sizeof file0},
};

size_t martlet_console_file_count(void) { return sizeof files / sizeof *files; }

martlet_console_file martlet_console_file_at(size_t index) { return files[index]; }
