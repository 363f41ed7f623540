import MartletHTTP

/// The frames of a request as they were written, HEADERS and DATA, to be copied for further items of its batch: an item
/// whose parts have the same lengths differs only in those parts and in the number of its stream.
struct BulkFrame {
    private var bytes: [UInt8] = []
    /// Where each part of an item is.
    private var parts: [Range<Int>] = []
    /// Where the header of the DATA frame is; nil where there is no body.
    private var dataIndex: Int?
    private(set) var bodyCount = 0

    /// How long a copy is.
    var count: Int { bytes.count }

    /// Takes frames over where they are of the simplest form: one of each kind.
    /// - Parameters:
    ///   - start: Where they begin in `output`, at whose end they end.
    ///   - parts: Where each part of the item is in `output`.
    /// - Returns: false, with nothing changed, where they are not.
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

    /// Appends the frames of an item.
    /// - Returns: false, with nothing appended, where its parts have other lengths.
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
