import MartletHTTP

/// The frames that further items of a batch are copies of: one for each of the lengths that were met last, because a few
/// templates make bodies of a few lengths, in any order.
struct BulkFrames {
    private static let limit = 8

    private var frames: [BulkFrame] = []
    /// Which of them the last item was a copy of.
    private var latest = 0
    /// The state of the header table in which copies are right.
    private var version = -1
    /// The length of the longest, and of the longest body.
    private(set) var longest = 0
    private(set) var longestBody = 0

    func areValid(for version: Int) -> Bool { self.version == version && !frames.isEmpty }

    /// Takes over the frames of an item that no other was like.
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

    /// Appends the frames of an item.
    /// - Returns: How long its body is; nil, with nothing appended, where it is like none that was noted.
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
