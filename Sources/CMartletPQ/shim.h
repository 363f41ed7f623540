#pragma once

#include <libpq-fe.h>
#include <sys/eventfd.h>

// Macros of characters, which are not imported into Swift: where the parts of an error are found.
static const int martlet_PG_DIAG_SEVERITY_NONLOCALIZED = 'V';
static const int martlet_PG_DIAG_SQLSTATE = 'C';
static const int martlet_PG_DIAG_MESSAGE_PRIMARY = 'M';
