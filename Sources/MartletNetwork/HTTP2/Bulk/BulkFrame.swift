import MartletHTTP

/// The encoded HEADERS and DATA frames of one request, used as a pattern for further items of its batch.
///
/// The parts of an item are its path, its field values and its own body (`RequestBatch.Parts`). Another item can use
/// the pattern if its parts have the same lengths. Its frames then differ only in these parts and in the stream id.
struct BulkFrame {
    private var bytes: [UInt8] = []
    /// The range in `bytes` of each part of the item: its path, each field value and its own body.
    private var parts: [Range<Int>] = []
    /// The offset of the DATA frame's header; nil if there is no body.
    private var dataIndex: Int?
    private(set) var bodyCount = 0

    /// The length of the frames that `copy` appends, in bytes.
    var count: Int { bytes.count }

    /// Stores frames if they have the simplest form: one HEADERS frame and at most one DATA frame.
    /// - Parameters:
    ///   - start: The offset of the first frame in `output`. The last frame ends at the end of `output`.
    ///   - parts: The range of each part of the item in `output`.
    /// - Returns: False if the frames have a different form; then nothing is changed.
    mutating func take(
        _ output: [UInt8], from start: Int, dataIndex: Int, bodyCount: Int, parts: [Range<Int>]
    ) -> Bool {
        let end = bodyCount == 0 ? dataIndex : dataIndex + HTTP2FrameHeader.size + bodyCount
        guard output.count == end else { return false }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: output[start...])
        self.parts.removeAll(keepingCapacity: true)
        for part in parts { self.parts.append(part.lowerBound - start..<part.upperBound - start) }
        self.dataIndex = bodyCount == 0 ? nil : dataIndex - start
        self.bodyCount = bodyCount
        return true
    }

    /// Appends the frames of an item, made from this pattern.
    /// - Returns: False if the lengths of the item's parts differ from those of the pattern; then nothing is appended.
    func copy(_ item: Int, of items: RequestBatch.Parts, on stream: Int32, into output: inout [UInt8]) -> Bool {
        for (number, index) in parts.enumerated() where items.count(number, of: item) != index.count { return false }
        let start = output.count
        output.append(contentsOf: bytes)
        output.withUnsafeMutableBytes { output in
            let frame = UnsafeMutableRawBufferPointer(rebasing: output[start...])
            for (number, index) in parts.enumerated() {
                UnsafeMutableRawBufferPointer(rebasing: frame[index])
                    .copyMemory(from: UnsafeRawBufferPointer(items.part(number, of: item)))
            }
            let id = UInt32(bitPattern: stream).bigEndian
            frame.storeBytes(of: id, toByteOffset: 5, as: UInt32.self)
            if let dataIndex { frame.storeBytes(of: id, toByteOffset: dataIndex + 5, as: UInt32.self) }
        }
        return true
    }
}
