/// Finds a sequence of bytes in content that arrives in pieces, with the Boyer-Moore-Horspool algorithm, which skips
/// most bytes.
struct DelimiterSearch: Sendable {
    /// The result of a search: where the content ends, and where the bytes after the delimiter begin.
    struct Found {
        /// The offset up to which the bytes are certainly content: the start of the delimiter, or of a possible
        /// beginning of a delimiter.
        var contentEnd: Int
        /// The offset after the delimiter; nil if it was not found.
        var rest: Int?
    }

    let pattern: [UInt8]
    /// The number of bytes by which the search advances, indexed by the byte of the content that was compared with the
    /// last byte of the pattern.
    private let steps: [Int]

    /// Prepares the search for a sequence.
    /// - Parameter pattern: The sequence to find; must not be empty.
    init(_ pattern: [UInt8]) {
        self.pattern = pattern
        var steps = Array(repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { steps[Int(byte)] = pattern.count - 1 - index }
        self.steps = steps
    }

    /// Finds the first delimiter in a piece of content.
    func find(in bytes: ArraySlice<UInt8>) -> Found {
        let (index, isWhole) = bytes.withUnsafeBufferPointer(search)
        let end = bytes.startIndex + index
        return Found(contentEnd: end, rest: isWhole ? end + pattern.count : nil)
    }

    private func search(_ bytes: UnsafeBufferPointer<UInt8>) -> (index: Int, isWhole: Bool) {
        let last = pattern.count - 1
        var index = 0
        while index + last < bytes.count {
            let byte = bytes[index + last]
            if byte == pattern[last], matches(bytes, at: index, count: last) { return (index, true) }
            index += steps[Int(byte)]
        }
        // The remaining bytes are too few for a delimiter. The search stops at the first index from which they may be
        // the beginning of a delimiter.
        while index < bytes.count, !matches(bytes, at: index, count: bytes.count - index) { index += 1 }
        return (index, false)
    }

    private func matches(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int, count: Int) -> Bool {
        (0..<count).allSatisfy { bytes[index + $0] == pattern[$0] }
    }
}
