#pragma once

#include <sys/types.h>

/// Starts a program with no signal blocked and no descriptors but its standard ones.
/// @param directory Its working directory; NULL for that of the caller.
/// @param standard Its standard input, output and error; -1 for /dev/null.
/// @return 0, or the number of the error.
int martlet_spawn(pid_t *process, const char *path, char *const arguments[], char *const environment[],
                  const char *directory, const int standard[3]);

/// pipe2(2) with O_CLOEXEC: it needs _GNU_SOURCE, which Swift's importer does not set.
int martlet_pipe(int ends[2]);
