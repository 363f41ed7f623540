/// A scanner that finds the end of a message's head, or of its trailers, and refuses everything that does not follow
/// RFC 9112 exactly.
///
/// The scanner runs before llhttp, which is too lenient to be safe behind proxies: llhttp accepts folded lines, a space
/// before the colon, a bare line feed and more. A head that this scanner accepts is parsed in the same way by every
/// implementation. The scanner examines each byte only once, regardless of the pieces in which the bytes arrive.
struct HeadScanner {
    /// The limits of a head, in bytes and counts.
    struct Limits {
        var startLineBytes: Int
        var fieldBytes: Int
        var fieldCount: Int
    }

    enum Refusal: Hashable {
        case malformed(String)
        case startLineTooLong
        case fieldsTooLarge
    }

    enum Outcome: Hashable {
        /// All bytes belong to the head, and the head is not complete yet.
        case more
        /// The head is complete. The value is the number of bytes that belong to the head.
        case complete(Int)
        case refused(Refusal)
    }

    private enum State {
        case beforeStart
        case startLine
        case lineStart
        case name
        case value
        /// The CR at the end of a field's line was read, and an LF must follow. An LF must also follow in `headEnd`,
        /// `startEnd` and `blankEnd`: after the CR of the empty line that ends the head, of the start line, and of an
        /// empty line before the start line.
        case lineEnd
        case headEnd
        case startEnd
        case blankEnd
    }

    private let limits: Limits
    private var state: State
    private var startLineBytes = 0
    private var fieldBytes = 0
    private var fieldCount = 0

    /// Creates a scanner for one head.
    /// - Parameter trailers: True to scan trailers, which have no start line.
    init(_ limits: Limits, trailers: Bool = false) {
        self.limits = limits
        state = trailers ? .lineStart : .beforeStart
    }

    /// True if a byte of the head has arrived. Empty lines before the start line are not part of the head.
    var hasBegun: Bool {
        switch state {
        case .beforeStart, .blankEnd: false
        default: true
        }
    }

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var index = 0
        while index < bytes.count {
            index += pass(bytes, from: index)
            guard index < bytes.count else { break }
            if let refusal = step(bytes[index]) { return .refused(refusal) }
            index += 1
            if state == .lineStart, isComplete { return .complete(index) }
        }
        return .more
    }

    /// Skips bytes in the middle of a line. Most bytes of a head can be skipped, because they change only the count of
    /// bytes.
    /// - Returns: The number of skipped bytes. The limits are not exceeded.
    private mutating func pass(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        switch state {
        case .startLine:
            let count = Self.run(bytes, from: start, limits.startLineBytes - startLineBytes, FieldRules.isValueByte)
            startLineBytes += count
            return count
        case .name:
            let count = Self.run(bytes, from: start, limits.fieldBytes - fieldBytes, FieldRules.isToken)
            fieldBytes += count
            return count
        case .value:
            let count = Self.run(bytes, from: start, limits.fieldBytes - fieldBytes, FieldRules.isValueByte)
            fieldBytes += count
            return count
        default: return 0
        }
    }

    @inline(__always)
    private static func run(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ limit: Int, _ belongs: (UInt8) -> Bool
    ) -> Int {
        let end = min(bytes.count, start + max(0, limit))
        return (start..<end).first { !belongs(bytes[$0]) }.map { $0 - start } ?? end - start
    }

    private var isComplete = false

    private mutating func step(_ byte: UInt8) -> Refusal? {
        switch state {
        case .beforeStart, .startLine, .startEnd, .blankEnd: stepStartLine(byte)
        case .lineStart, .name, .value, .lineEnd, .headEnd: stepFields(byte)
        }
    }

    private mutating func stepStartLine(_ byte: UInt8) -> Refusal? {
        startLineBytes += 1
        guard startLineBytes <= limits.startLineBytes else { return .startLineTooLong }
        switch (state, byte) {
        case (.beforeStart, Self.carriageReturn): state = .blankEnd
        case (.blankEnd, Self.lineFeed): state = .beforeStart
        case (.startLine, Self.carriageReturn): state = .startEnd
        case (.startEnd, Self.lineFeed): state = .lineStart
        case (.beforeStart, 0x21...0x7E): state = .startLine
        case (.startLine, 0x20...0x7E), (.startLine, 0x80...0xFF), (.startLine, 0x09): break
        default: return .malformed("the first line is not well formed")
        }
        return nil
    }

    private mutating func stepFields(_ byte: UInt8) -> Refusal? {
        fieldBytes += 1
        guard fieldBytes <= limits.fieldBytes else { return .fieldsTooLarge }
        switch (state, byte) {
        case (.lineStart, Self.carriageReturn): state = .headEnd
        case (.headEnd, Self.lineFeed):
            state = .lineStart
            isComplete = true
        case (.lineStart, _) where FieldRules.isToken(byte):
            fieldCount += 1
            guard fieldCount <= limits.fieldCount else { return .fieldsTooLarge }
            state = .name
        case (.lineStart, 0x20), (.lineStart, 0x09): return .malformed("a field is folded over two lines")
        case (.name, UInt8(ascii: ":")): state = .value
        case (.name, _) where FieldRules.isToken(byte): break
        case (.value, Self.carriageReturn): state = .lineEnd
        case (.value, _) where FieldRules.isValueByte(byte): break
        case (.lineEnd, Self.lineFeed): state = .lineStart
        default: return .malformed("a header field is not well formed")
        }
        return nil
    }

    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A
}
