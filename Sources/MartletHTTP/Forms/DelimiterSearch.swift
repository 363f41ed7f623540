/// Finds one sequence of bytes in content that comes in pieces, by R. N. Horspool's method: most bytes are not looked at.
struct DelimiterSearch: Sendable {
    /// Where content ends.
    struct Found {
        /// After the last byte that is certainly content: the offset of the delimiter, or of what may become one.
        var contentEnd: Int
        /// Behind the delimiter; nil where there is none yet.
        var rest: Int?
    }

    let pattern: [UInt8]
    /// How far to go on, by the byte that is at the pattern's last offset.
    private let steps: [Int]

    /// - Parameter pattern: Not empty.
    init(_ pattern: [UInt8]) {
        self.pattern = pattern
        var steps = Array(repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { steps[Int(byte)] = pattern.count - 1 - index }
        self.steps = steps
    }

    /// Looks for the first delimiter.
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
        // What is left is too short for a delimiter, but may be the beginning of one.
        while index < bytes.count, !matches(bytes, at: index, count: bytes.count - index) { index += 1 }
        return (index, false)
    }

    private func matches(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int, count: Int) -> Bool {
        (0..<count).allSatisfy { bytes[index + $0] == pattern[$0] }
    }
}
