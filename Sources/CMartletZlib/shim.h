#pragma once

#include <zlib.h>

// A macro in zlib's header, which Swift cannot call. 31 makes gzip of the format.
static inline int martlet_gzip_init(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
}
