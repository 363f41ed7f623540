import CMartletLLHTTP

/// A parser of HTTP/1.1 messages that wraps llhttp.
///
/// The caller passes a complete head first, then the body in pieces of any size.
///
/// Not thread-safe: owned by a loop. llhttp calls back only during parsing.
final class HTTP1Parser {
    enum Kind {
        case request
        case response
    }

    enum Failure: Error {
        /// The message violates HTTP. The value is llhttp's reason, which contains no byte of the message.
        case malformed(String)
        /// A well-formed method that llhttp does not know.
        case unknownMethod
    }

    struct Field {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The reason why the parser stopped.
    enum Stop: Hashable {
        /// All input was consumed, but the message is not complete yet.
        case hungry
        /// The message is complete.
        case complete
        /// The last chunk was read. The trailers follow; they may be empty.
        case trailers
    }

    private let parser = UnsafeMutablePointer<llhttp_t>.allocate(capacity: 1)

    // The callbacks of llhttp read and set the following properties. Positions are offsets in the head that is being
    // parsed.
    fileprivate var base: UnsafePointer<CChar>?
    fileprivate(set) var target = 0..<0
    fileprivate(set) var fields: [Field] = []
    fileprivate var name = 0..<0
    fileprivate(set) var isComplete = false
    fileprivate var isAtTrailers = false
    fileprivate var inHead = true
    fileprivate var body: [UInt8] = []
    /// The number of bytes of the current message that frame its chunks: the sizes, extensions and line ends.
    private var framingBytes = 0
    private var inTrailers = false
    /// The number of chunks of the current message so far.
    fileprivate(set) var chunkCount = 0
    /// True if the response answers a HEAD request.
    ///
    /// Must be set after `reset`, which clears it, and before the response is parsed.
    var answersHead = false

    init(_ kind: Kind) {
        llhttp_init(parser, kind == .request ? HTTP_REQUEST : HTTP_RESPONSE, callbacks)
        parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        parser.deallocate()
    }

    var minorVersion: Int { Int(parser.pointee.http_minor) }
    var majorVersion: Int { Int(parser.pointee.http_major) }
    var status: Int { Int(parser.pointee.status_code) }
    var method: String { String(cString: llhttp_method_name(llhttp_method_t(UInt32(parser.pointee.method)))) }
    var isChunked: Bool { parser.pointee.flags & UInt16(F_CHUNKED.rawValue) != 0 }
    var hasLength: Bool { parser.pointee.flags & UInt16(F_CONTENT_LENGTH.rawValue) != 0 }
    private(set) var contentLength: UInt64 = 0
    private(set) var keepsAlive = false
    /// True if the body of the response ends only when the peer closes the connection.
    private(set) var needsEnd = false

    /// Prepares the parser for the next message.
    func reset() {
        llhttp_reset(parser)
        fields.removeAll(keepingCapacity: true)
        isComplete = false
        isAtTrailers = false
        inHead = true
        framingBytes = 0
        inTrailers = false
        chunkCount = 0
        answersHead = false
    }

    /// Parses a complete head, including its empty line.
    func parseHead(_ head: UnsafeRawBufferPointer) throws(Failure) {
        let bytes = head.assumingMemoryBound(to: CChar.self)
        base = bytes.baseAddress
        let code = llhttp_execute(parser, bytes.baseAddress, bytes.count)
        base = nil
        try check(code)
    }

    fileprivate func headIsComplete() {
        inHead = false
        // Makes llhttp ignore an `upgrade` field and continue with the message. `HTTP1Server` handles WebSocket
        // upgrades.
        parser.pointee.upgrade = 0
        contentLength = hasLength ? parser.pointee.content_length : 0
        keepsAlive = llhttp_should_keep_alive(parser) == 1
        needsEnd = llhttp_message_needs_eof(parser) == 1
    }

    /// Parses bytes after the head and appends the body to `body`.
    /// - Returns: The number of consumed bytes, and the reason why the parser stopped.
    func parseBody(
        _ bytes: UnsafeRawBufferPointer, into body: inout [UInt8]
    ) throws(Failure) -> (taken: Int, stop: Stop) {
        guard !isComplete else { return (0, .complete) }
        let characters = bytes.assumingMemoryBound(to: CChar.self)
        let bodyBytes = body.count
        swap(&self.body, &body)
        llhttp_resume(parser)
        let code = llhttp_execute(parser, characters.baseAddress, characters.count)
        swap(&self.body, &body)
        try check(code)
        let isPaused = code == HPE_PAUSED
        let taken = isPaused ? characters.baseAddress.map { llhttp_get_error_pos(parser) - $0 } ?? 0 : bytes.count
        try countFraming(taken - (body.count - bodyBytes))
        guard isPaused else { return (taken, .hungry) }
        let stop: Stop = isAtTrailers && !isComplete ? .trailers : .complete
        inTrailers = stop == .trailers
        isAtTrailers = false
        return (taken, stop)
    }

    /// Counts bytes that frame chunks. Without a limit, a peer could make the size lines of chunks endlessly long, with
    /// leading zeros or extensions, without exceeding the body limit. The trailers have a limit of their own.
    private func countFraming(_ bytes: Int) throws(Failure) {
        guard !inTrailers else { return }
        framingBytes += bytes
        // Each chunk may have 20 such bytes: 16 digits, and the line ends after the size and after the data.
        guard framingBytes <= 4096 + 20 * chunkCount else {
            throw .malformed("the lines of the chunks are too long")
        }
    }

    /// Handles the closing of the peer's side of the connection.
    /// - Returns: True if the current message is thereby complete.
    func inputEnded() -> Bool {
        needsEnd && !inHead && !isComplete
    }

    private func check(_ code: llhttp_errno_t) throws(Failure) {
        switch code {
        case HPE_OK, HPE_PAUSED: return
        case HPE_INVALID_METHOD: throw .unknownMethod
        default:
            let reason = llhttp_get_error_reason(parser).map { String(cString: $0) } ?? ""
            throw .malformed(reason)
        }
    }
}

/// The callbacks of llhttp. Initialised once, then only read.
private nonisolated(unsafe) let callbacks: UnsafeMutablePointer<llhttp_settings_t> = {
    let callbacks = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
    llhttp_settings_init(callbacks)
    callbacks.pointee.on_url = recordTarget
    callbacks.pointee.on_header_field = recordName
    callbacks.pointee.on_header_value = recordValue
    callbacks.pointee.on_header_value_complete = recordValueEnd
    callbacks.pointee.on_headers_complete = recordHeadEnd
    callbacks.pointee.on_body = recordBody
    callbacks.pointee.on_chunk_header = recordChunk
    callbacks.pointee.on_message_complete = recordEnd
    return callbacks
}()

private func parser(of raw: UnsafeMutablePointer<llhttp_t>?) -> HTTP1Parser? {
    raw?.pointee.data.map { Unmanaged<HTTP1Parser>.fromOpaque($0).takeUnretainedValue() }
}

/// Returns the range in the head of a text that llhttp reports; nil if the text belongs to the trailers.
private func index(_ parser: HTTP1Parser, _ start: UnsafePointer<CChar>?, _ count: Int) -> Range<Int>? {
    guard parser.inHead, let base = parser.base, let start else { return nil }
    return (start - base)..<(start - base + count)
}

private func recordTarget(
    _ raw: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    guard let parser = parser(of: raw), let index = index(parser, start, count) else { return 0 }
    parser.target = index
    return 0
}

private func recordName(
    _ raw: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    guard let parser = parser(of: raw), let index = index(parser, start, count) else { return 0 }
    parser.name = index
    return 0
}

private func recordValue(
    _ raw: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    guard let parser = parser(of: raw), let index = index(parser, start, count) else { return 0 }
    // llhttp interprets some fields, and reports their values in several adjacent pieces. The pieces are joined here.
    if let last = parser.fields.last, last.name == parser.name {
        parser.fields[parser.fields.count - 1] = .init(
            name: last.name, value: last.value.isEmpty ? index : last.value.lowerBound..<index.upperBound)
    } else {
        parser.fields.append(.init(name: parser.name, value: index))
    }
    return 0
}

private func recordValueEnd(_ raw: UnsafeMutablePointer<llhttp_t>?) -> Int32 {
    guard let parser = parser(of: raw), parser.inHead, parser.fields.last?.name != parser.name else { return 0 }
    parser.fields.append(.init(name: parser.name, value: parser.name.upperBound..<parser.name.upperBound))
    return 0
}

/// Records the end of the head. Returns 1 if the response answers a HEAD request. The value tells llhttp that there is
/// no body, because llhttp does not know the request.
private func recordHeadEnd(_ raw: UnsafeMutablePointer<llhttp_t>?) -> Int32 {
    guard let parser = parser(of: raw) else { return -1 }
    parser.headIsComplete()
    return parser.answersHead ? 1 : 0
}

private func recordBody(
    _ raw: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    parser(of: raw)?.body.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
    return 0
}

private func recordChunk(_ raw: UnsafeMutablePointer<llhttp_t>?) -> Int32 {
    guard let raw, let parser = parser(of: raw) else { return 0 }
    parser.chunkCount += 1
    guard raw.pointee.content_length == 0 else { return 0 }
    parser.isAtTrailers = true
    return Int32(HPE_PAUSED.rawValue)
}

private func recordEnd(_ raw: UnsafeMutablePointer<llhttp_t>?) -> Int32 {
    parser(of: raw)?.isComplete = true
    return Int32(HPE_PAUSED.rawValue)
}
