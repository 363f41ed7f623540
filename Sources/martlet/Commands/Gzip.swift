import CMartletZlib
import MartletServer

/// Compresses a stream of bytes in gzip format (RFC 1952).
final class GzipWriter {
    private var stream = z_stream()

    init() throws(ServerError) {
        guard martlet_gzip_init(&stream) == Z_OK else {
            throw ServerError("There is not enough memory for compression.")
        }
    }

    deinit {
        deflateEnd(&stream)
    }

    /// - Parameter isLast: Whether the stream ends after these bytes.
    /// - Returns: The compressed bytes that are ready so far.
    func compress(_ bytes: [UInt8], isLast: Bool = false) -> [UInt8] {
        var input = bytes
        var compressed: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            repeat {
                let count = chunk.withUnsafeMutableBufferPointer { chunk in
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = UInt32(chunk.count)
                    deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return chunk.count - Int(stream.avail_out)
                }
                compressed += chunk.prefix(count)
            } while stream.avail_out == 0
        }
        return compressed
    }
}
