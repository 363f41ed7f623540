/// Splits a blob into lines. The blob is read in pieces; only one piece and one line are in memory at a time.
struct LineReader: Sendable {
    /// A line, or a marker for a line that is too long.
    enum Line: Hashable, Sendable {
        case text([UInt8])
        case tooLong
    }

    /// A line with the offset of its end.
    struct Item: Hashable, Sendable {
        let line: Line
        /// The offset of the first byte after the line and its line break.
        let end: Int64
    }

    /// The number of bytes in a piece. A piece is parsed in about ten milliseconds, so that other work can run between
    /// pieces.
    private static let pieceBytes = 1 << 18

    private let content: any BlobContent
    private let lengthLimit: Int
    private var offset: Int64
    private var piece: [UInt8] = []
    private var at = 0
    private var begun: [UInt8] = []
    private var isTooLong = false
    private var isOver = false

    init(_ content: any BlobContent, from offset: Int64, lengthLimit: Int) {
        self.content = content
        self.lengthLimit = lengthLimit
        self.offset = offset
    }

    /// Returns the next line without its line break, which is LF or CRLF; nil after the last line.
    mutating func next() async throws(ContainerError) -> Item? {
        while true {
            if let end = piece[at...].firstIndex(of: UInt8(ascii: "\n")) {
                take(piece[at..<end])
                at = end + 1
                return finish(end: offset - Int64(piece.count - at))
            }
            take(piece[at...])
            piece = isOver ? [] : try await content.read(at: offset, count: Self.pieceBytes)
            at = 0
            offset += Int64(piece.count)
            guard piece.isEmpty else { continue }
            isOver = true
            return begun.isEmpty && !isTooLong ? nil : finish(end: offset)
        }
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, begun.count + bytes.count <= lengthLimit else {
            isTooLong = true
            begun = []
            return
        }
        begun += bytes
    }

    private mutating func finish(end: Int64) -> Item {
        defer {
            begun = []
            isTooLong = false
        }
        if isTooLong { return Item(line: .tooLong, end: end) }
        if begun.last == UInt8(ascii: "\r") { begun.removeLast() }
        return Item(line: .text(begun), end: end)
    }
}
