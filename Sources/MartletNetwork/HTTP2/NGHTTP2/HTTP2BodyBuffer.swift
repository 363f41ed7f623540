/// Bytes of a response body that wait to be sent.
struct HTTP2BodyBuffer {
    private var bytes: [UInt8] = []
    private var sent = 0
    /// True once all bytes of the body have been appended.
    private(set) var isComplete = false
    private var isShared = false

    init() {}

    /// Creates a buffer with a complete body.
    /// - Parameter isShared: Whether the bytes are kept in memory elsewhere anyway.
    init(_ bytes: [UInt8], isShared: Bool = false) {
        self.bytes = bytes
        self.isShared = isShared
        isComplete = true
    }

    /// The number of bytes that this body keeps in memory, including bytes that were sent but not yet released.
    var memory: Int { isShared ? 0 : bytes.count }

    /// The number of bytes that wait to be sent.
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

    /// Copies the next bytes of the body into a frame.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> NGHTTP2Body {
        let length = min(count, buffer.count)
        guard length > 0 || isComplete else { return .later }
        buffer.copyBytes(from: bytes[sent..<sent + length])
        sent += length
        dropSent()
        return .bytes(length, isLast: isComplete && count == 0)
    }

    /// Removes and returns the next bytes; nil if no bytes are waiting.
    mutating func next(upTo limit: Int) -> ArraySlice<UInt8>? {
        guard count > 0 else { return nil }
        let piece = bytes[sent..<min(sent + limit, bytes.count)]
        sent += piece.count
        dropSent()
        return piece
    }

    private mutating func dropSent() {
        if count == 0 {
            bytes = []
        } else if !isShared, sent > 64 * 1024, sent > bytes.count / 2 {
            bytes = Array(bytes[sent...])
        } else {
            return
        }
        sent = 0
    }
}
