import MartletHTTP

/// Reads along with nghttp2 what a peer sends: the kind of each frame, for the flood guard, and how the fields of each
/// header block are represented.
///
/// It runs over every piece of input before nghttp2 does, so a block has been read here once nghttp2 reports it whole.
struct HTTP2FrameTap {
    enum Fault: Error {
        /// A header block is longer than anybody needs.
        case headerBlockTooLong
        /// The guard has had enough of these frames.
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
    /// The frame header, or the payload of a frame that carries header fields, as far as it has come.
    private var pending: [UInt8] = []
    private var block: [UInt8] = []
    private var blocks: [Block] = []

    /// - Parameters:
    ///   - prefaceLength: How many octets come before the first frame.
    ///   - blockLimit: The longest header block, in encoded octets.
    init(prefaceLength: Int, blockLimit: Int) {
        self.blockLimit = blockLimit
        state = prefaceLength > 0 ? .preface(left: prefaceLength) : .header
    }

    /// Whether a header block has begun and not ended.
    var isInsideBlock: Bool {
        if case .payload(let frame, _) = state, Self.carriesFields(frame) { return true }
        return !block.isEmpty
    }

    /// How much of a header block that has not ended is held.
    var heldBytes: Int { pending.count + block.count }

    /// Reads a piece of input.
    /// - Parameter observe: Is told each frame as soon as its header is there; false stops the reading.
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

    /// How the fields of the block that nghttp2 has just completed are represented.
    mutating func takeIndexing(on stream: Int32) -> [HTTPField.Indexing] {
        // Blocks of streams that nghttp2 ignores are never asked for.
        guard let index = blocks.firstIndex(where: { $0.stream == stream }) else { return [] }
        defer { blocks.removeFirst(index + 1) }
        return blocks[index].indexing
    }

    /// Forgets blocks that nobody asked for while their input was read.
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

    /// The payload without padding and priority.
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
