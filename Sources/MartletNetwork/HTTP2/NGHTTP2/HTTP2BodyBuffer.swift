/// Bytes of a response body that wait to be sent.
struct HTTP2BodyBuffer {
    private var bytes: [UInt8] = []
    private var sent = 0
    /// True once the body is complete.
    private(set) var isComplete = false

    init() {}

    /// Creates a buffer with a complete body.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isComplete = true
    }

    /// The number of waiting bytes.
    var count: Int { bytes.count - sent }

    mutating func append(_ more: [UInt8]) {
        if count == 0 {
            bytes = more
        } else {
            bytes.removeFirst(sent)
            bytes += more
        }
        sent = 0
    }

    mutating func complete() {
        isComplete = true
    }

    /// Copies the next bytes into a frame.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body {
        let length = min(count, buffer.count)
        guard length > 0 || isComplete else { return .later }
        buffer.copyBytes(from: bytes[sent..<sent + length])
        sent += length
        return .bytes(length, isLast: isComplete && count == 0)
    }
}
