import MartletHTTP

/// Parses the same input as nghttp2, to learn two things that nghttp2 does not report. One is the kind of each frame,
/// which the flood guard needs. The other is whether each field of a header block was indexed (`HTTPField.Indexing`).
///
/// The tap parses each piece of input before nghttp2 does. So when nghttp2 reports a header block, the tap has already
/// parsed all of it.
struct HTTP2FrameTap {
    enum Fault: Error {
        /// A header block exceeds the limit.
        case headerBlockTooLong
        /// The flood guard refused a frame.
        case flood
    }

    private enum State {
        case preface(left: Int)
        case header
        case payload(HTTP2FrameHeader, left: Int)
    }

    private struct Block {
        let stream: Int32
        let indexing: [HTTPField.Indexing]
    }

    private let blockLimit: Int
    private var state: State
    /// The first bytes of a frame header that has not arrived completely, or of a payload with header fields that has
    /// not arrived completely.
    private var pending: [UInt8] = []
    private var block: [UInt8] = []
    private var blocks: [Block] = []

    /// Creates a tap for the input of one connection.
    /// - Parameters:
    ///   - prefaceLength: The number of octets before the first frame.
    ///   - blockLimit: The maximum size of an encoded header block, in octets.
    init(prefaceLength: Int, blockLimit: Int) {
        self.blockLimit = blockLimit
        state = prefaceLength > 0 ? .preface(left: prefaceLength) : .header
    }

    /// True while a header block is incomplete.
    var isInsideBlock: Bool {
        if case .payload(let frame, _) = state, Self.carriesFields(frame) { return true }
        return !block.isEmpty
    }

    /// The number of buffered bytes of an incomplete header block.
    var heldBytes: Int { pending.count + block.count }

    /// Parses a piece of input.
    /// - Parameter observe: Called with each frame header. Returns false to stop with `Fault.flood`.
    mutating func read(_ bytes: UnsafeRawBufferPointer, observe: (HTTP2FrameHeader) -> Bool) throws(Fault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch state {
            case .preface(let left):
                let count = min(left, rest.count)
                rest.removeFirst(count)
                state = count < left ? .preface(left: left - count) : .header
            case .header:
                let count = min(HTTP2FrameHeader.size - pending.count, rest.count)
                pending.append(contentsOf: rest.prefix(count))
                rest.removeFirst(count)
                guard pending.count == HTTP2FrameHeader.size else { return }
                let frame = pending.withUnsafeBytes { HTTP2FrameHeader($0) }
                pending.removeAll(keepingCapacity: true)
                guard observe(frame) else { throw .flood }
                try begin(frame)
            case .payload(let frame, let left):
                let count = min(left, rest.count)
                if Self.carriesFields(frame) { pending.append(contentsOf: rest.prefix(count)) }
                rest.removeFirst(count)
                state = .payload(frame, left: left - count)
                if count == left { end(frame) }
            }
        }
    }

    /// Returns, for each field of the header block that nghttp2 has just completed, whether it was indexed.
    mutating func takeIndexing(on stream: Int32) -> [HTTPField.Indexing] {
        // Blocks before this one are discarded. Some blocks are never asked for, because nghttp2 ignores the blocks of
        // some streams.
        guard let index = blocks.firstIndex(where: { $0.stream == stream }) else { return [] }
        defer { blocks.removeFirst(index + 1) }
        return blocks[index].indexing
    }

    /// Removes the blocks that `takeIndexing` did not return while their input was parsed.
    mutating func forgetBlocks() {
        blocks.removeAll(keepingCapacity: true)
    }

    private mutating func begin(_ frame: HTTP2FrameHeader) throws(Fault) {
        guard !Self.carriesFields(frame) || block.count + frame.length <= blockLimit else { throw .headerBlockTooLong }
        state = .payload(frame, left: frame.length)
        if frame.length == 0 { end(frame) }
    }

    private mutating func end(_ frame: HTTP2FrameHeader) {
        state = .header
        guard Self.carriesFields(frame) else { return }
        block.append(contentsOf: Self.fragment(of: pending, in: frame))
        pending.removeAll(keepingCapacity: true)
        guard frame.has(HTTP2FrameHeader.Flag.endHeaders) else { return }
        blocks.append(Block(stream: frame.stream, indexing: HPACKBlockScanner.indexing(of: block)))
        block.removeAll(keepingCapacity: true)
    }

    private static func carriesFields(_ frame: HTTP2FrameHeader) -> Bool {
        frame.kind == HTTP2FrameHeader.Kind.headers || frame.kind == HTTP2FrameHeader.Kind.continuation
    }

    /// Returns the payload of a frame without padding and priority.
    private static func fragment(of payload: [UInt8], in frame: HTTP2FrameHeader) -> ArraySlice<UInt8> {
        var rest = payload[...]
        guard frame.kind == HTTP2FrameHeader.Kind.headers else { return rest }
        if frame.has(HTTP2FrameHeader.Flag.padded) {
            let padding = Int(rest.popFirst() ?? 0)
            rest = rest.dropLast(padding)
        }
        return frame.has(HTTP2FrameHeader.Flag.priority) ? rest.dropFirst(5) : rest
    }
}
