// Memory for nghttp2's inflater, which takes and gives back a piece for every literal it decodes: with malloc that would
// be a seventh of the sink's time.
#pragma once
#include <nghttp2/nghttp2.h>

// Pieces are kept for the next who want some. For one thread.
extern nghttp2_mem memory;
