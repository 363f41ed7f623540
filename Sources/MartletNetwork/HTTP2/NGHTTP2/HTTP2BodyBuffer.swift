/// Bytes of a body that wait to be sent.
struct HTTP2BodyBuffer {
    private var bytes: [UInt8] = []
    private var sent = 0
    /// Nothing is added any more.
    private(set) var isComplete = false

    init() {}

    /// A body that is complete from the start.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isComplete = true
    }

    /// How many bytes wait.
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

    /// Gives the next bytes to a frame.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body {
        let length = min(count, buffer.count)
        guard length > 0 || isComplete else { return .later }
        buffer.copyBytes(from: bytes[sent..<sent + length])
        sent += length
        return .bytes(length, isLast: isComplete && count == 0)
    }
}
