import MartletHTTP

/// The patterns (`BulkFrame`) from which the frames of further items are copied. One pattern is kept for each of the
/// most recent combinations of part lengths, because the bodies of a batch often have a few different lengths, in any
/// order.
struct BulkFrames {
    private static let limit = 8

    private var frames: [BulkFrame] = []
    /// The index of the pattern that was used last.
    private var latest = 0
    /// The version of the encoder's header table (`HPACKEncoderTable`) for which the patterns are valid.
    private var version = -1
    /// The length of the longest pattern, in bytes.
    private(set) var longest = 0
    /// The length of the longest body in a pattern, in bytes.
    private(set) var longestBody = 0

    func areValid(for version: Int) -> Bool { self.version == version && !frames.isEmpty }

    /// Stores the frames of an item that matched no pattern as a new pattern.
    mutating func record(
        _ output: [UInt8], from start: Int, dataIndex: Int, bodyCount: Int, parts: [Range<Int>], version: Int
    ) {
        if self.version != version {
            frames.removeAll(keepingCapacity: true)
            self.version = version
        }
        let index = frames.count < Self.limit ? frames.count : (latest + 1) % Self.limit
        if index == frames.count { frames.append(BulkFrame()) }
        if frames[index].take(output, from: start, dataIndex: dataIndex, bodyCount: bodyCount, parts: parts) {
            latest = index
        } else if frames[index].count == 0 {
            frames.removeLast()
        }
        longest = frames.reduce(0) { max($0, $1.count) }
        longestBody = frames.reduce(0) { max($0, $1.bodyCount) }
    }

    /// Appends the frames of an item, copied from a matching pattern.
    /// - Returns: The length of the item's body; nil if no pattern matches, in which case nothing is appended.
    mutating func copy(
        _ item: Int, of items: RequestBatch.Parts, on stream: Int32, into output: inout [UInt8]
    ) -> Int? {
        if frames[latest].copy(item, of: items, on: stream, into: &output) { return frames[latest].bodyCount }
        for index in frames.indices where frames[index].copy(item, of: items, on: stream, into: &output) {
            latest = index
            return frames[index].bodyCount
        }
        return nil
    }
}
