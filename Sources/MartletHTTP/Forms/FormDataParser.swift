/// Parses `multipart/form-data` (RFC 7578, RFC 2046 section 5.1) incrementally: bytes in, events out. It buffers at
/// most a header line, a field or the beginning of a delimiter.
///
/// The parser is strict, so that every body has exactly one interpretation: the body begins with the first delimiter,
/// lines end in CR LF, nothing is between a boundary and the end of its line, and at most one line end may follow the
/// last delimiter. File names are ignored.
public struct FormDataParser: Sendable {
    /// A piece of a form's content. The pieces are reported in order.
    public enum Event: Hashable, Sendable {
        /// A field with its whole value.
        case field(name: String, value: String)
        /// A file begins; its bytes follow.
        /// - Parameter contentType: The content type of the part, unchecked; nil if the part states none.
        case file(name: String, contentType: String?)
        /// The next bytes of the file, never empty.
        case bytes([UInt8])
        case fileEnd
    }

    /// The limits above which a form is refused.
    public struct Limits: Hashable, Sendable {
        public var parts: Int
        /// The maximum size of all header lines of one part, in bytes.
        public var headerBytes: Int
        /// The maximum size of the value of one field, in bytes.
        public var fieldBytes: Int
        /// The maximum size of one file, in bytes.
        public var fileBytes: Int64

        public init(parts: Int, headerBytes: Int, fieldBytes: Int, fileBytes: Int64) {
            self.parts = parts
            self.headerBytes = headerBytes
            self.fieldBytes = fieldBytes
            self.fileBytes = fileBytes
        }

        /// The maximum size of a form with one file, in bytes, not counting the file.
        public var overhead: Int64 { Int64(parts) * Int64(headerBytes + fieldBytes + 256) }
    }

    enum State: Hashable, Sendable {
        /// The parser expects the first delimiter.
        ///
        /// The next state is `delimiter`.
        case beginning
        /// The parser has read a boundary.
        ///
        /// The next state is `headers`, or `epilogue` after the last boundary.
        case delimiter
        /// The parser reads the header lines of a part.
        ///
        /// The next state after the empty line is `field` or `file`.
        case headers(FormPartHead)
        /// The parser reads the value of a field.
        ///
        /// The next state is `delimiter`.
        case field(name: String)
        /// The parser reads a file, of which `bytes` bytes have been reported.
        ///
        /// The next state is `delimiter`.
        case file(bytes: Int64)
        /// The parser has read the last delimiter.
        ///
        /// The next state after a line end is `over`.
        case epilogue
        case over
    }

    private let limits: Limits
    private let fileField: String
    private let delimiter: DelimiterSearch
    private var state = State.beginning
    private var parts = 0
    /// The received bytes that have not been reported yet.
    private var pending: [UInt8] = []

    /// The maximum length of a boundary, in bytes (RFC 2046).
    private static let boundaryLimit = 70
    static let lineEnd: [UInt8] = [0x0D, 0x0A]

    /// Creates a parser for the body of a request.
    /// - Parameters:
    ///   - contentType: The `Content-Type` field of the request, which states the boundary.
    ///   - fileField: The name of the parts that are files; all other parts are fields.
    /// - Throws: `FormDataError.noBoundary` if the content type is not `multipart/form-data` with a valid boundary.
    public init(contentType: String?, fileField: String, limits: Limits) throws(FormDataError) {
        guard let type = contentType.flatMap({ HeaderParameters($0) }), type.value == "multipart/form-data",
            let boundary = type["boundary"], (1...Self.boundaryLimit).contains(boundary.utf8.count),
            boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), boundary.utf8.last != 0x20
        else { throw .noBoundary }
        delimiter = DelimiterSearch(Self.lineEnd + Array("--\(boundary)".utf8))
        self.fileField = fileField
        self.limits = limits
    }

    /// Parses the next bytes of the body, which may be split anywhere, and returns the events that they complete.
    public mutating func read(_ bytes: [UInt8]) throws(FormDataError) -> [Event] {
        var input = pending.isEmpty ? bytes[...] : (pending + bytes)[...]
        pending = []
        var events: [Event] = []
        while try advance(&input, &events) {}
        pending = Array(input)
        return events
    }

    /// Checks that the form is complete.
    ///
    /// Must be called at the end of the body.
    /// - Throws: `FormDataError.cut` if the form is incomplete.
    public func finish() throws(FormDataError) {
        guard state == .over || state == .epilogue && pending.isEmpty else { throw .cut }
    }

    /// Performs the next step of parsing.
    /// - Returns: True if the function must be called again; false if more bytes are needed.
    private mutating func advance(
        _ input: inout ArraySlice<UInt8>, _ events: inout [Event]
    ) throws(FormDataError) -> Bool {
        switch state {
        case .beginning:
            let boundary = delimiter.pattern.dropFirst(Self.lineEnd.count)
            guard boundary.starts(with: input.prefix(boundary.count)) else { throw .malformed(.noDelimiter) }
            guard input.count >= boundary.count else { return false }
            input.removeFirst(boundary.count)
            state = .delimiter
        case .delimiter:
            guard input.count >= 2 else { return false }
            try leaveDelimiter(input.prefix(2))
            input.removeFirst(2)
        case .headers(let head): return try readHeader(head, &input, &events)
        case .field(let name): return try readField(name, &input, &events)
        case .file(let count): return try readFile(count, &input, &events)
        case .epilogue:
            guard Self.lineEnd.starts(with: input.prefix(2)) else { throw .malformed(.epilogue) }
            guard input.count >= 2 else { return false }
            input.removeFirst(2)
            state = .over
        case .over:
            guard input.isEmpty else { throw .malformed(.epilogue) }
            return false
        }
        return true
    }

    private mutating func leaveDelimiter(_ mark: ArraySlice<UInt8>) throws(FormDataError) {
        if mark.elementsEqual("--".utf8) {
            state = .epilogue
            return
        }
        guard mark.elementsEqual(Self.lineEnd) else { throw .malformed(.delimiterLine) }
        parts += 1
        guard parts <= limits.parts else { throw .tooManyParts(limits.parts) }
        state = .headers(FormPartHead())
    }

    private mutating func readHeader(
        _ head: FormPartHead, _ input: inout ArraySlice<UInt8>, _ events: inout [Event]
    ) throws(FormDataError) -> Bool {
        var head = head
        guard let end = input.firstIndex(of: 0x0A) else {
            guard head.bytes + input.count <= limits.headerBytes else { throw .headersTooLarge(limits.headerBytes) }
            return false
        }
        let line = input[input.startIndex..<end]
        // The size is checked before the content of the line, so that the error does not depend on how the line is
        // split into received pieces.
        head.bytes += line.count + 1
        guard head.bytes <= limits.headerBytes else { throw .headersTooLarge(limits.headerBytes) }
        guard line.last == 0x0D else { throw .malformed(.headerLine) }
        input = input[(end + 1)...]
        guard line.count == 1 else {
            try head.read(line.dropLast())
            state = .headers(head)
            return true
        }
        guard let name = head.name else { throw .malformed(.noName) }
        if name == fileField {
            events.append(.file(name: name, contentType: head.contentType))
            state = .file(bytes: 0)
        } else {
            state = .field(name: name)
        }
        return true
    }

    private mutating func readField(
        _ name: String, _ input: inout ArraySlice<UInt8>, _ events: inout [Event]
    ) throws(FormDataError) -> Bool {
        let found = delimiter.find(in: input)
        guard found.contentEnd - input.startIndex <= limits.fieldBytes else {
            throw .fieldTooLong(limits.fieldBytes)
        }
        guard let rest = found.rest else { return false }
        guard let value = String(validating: input[..<found.contentEnd], as: UTF8.self) else {
            throw .malformed(.fieldText)
        }
        events.append(.field(name: name, value: value))
        input = input[rest...]
        state = .delimiter
        return true
    }

    private mutating func readFile(
        _ count: Int64, _ input: inout ArraySlice<UInt8>, _ events: inout [Event]
    ) throws(FormDataError) -> Bool {
        let found = delimiter.find(in: input)
        let content = input[..<found.contentEnd]
        guard count + Int64(content.count) <= limits.fileBytes else { throw .fileTooLarge(limits.fileBytes) }
        if !content.isEmpty { events.append(.bytes(Array(content))) }
        guard let rest = found.rest else {
            input = input[found.contentEnd...]
            state = .file(bytes: count + Int64(content.count))
            return false
        }
        events.append(.fileEnd)
        input = input[rest...]
        state = .delimiter
        return true
    }
}
