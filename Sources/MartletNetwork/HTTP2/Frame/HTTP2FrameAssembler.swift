/// Splits input into complete frames. A frame that is complete in the input is passed on without a copy. Only a frame
/// that spans several inputs is assembled in a buffer.
struct HTTP2FrameAssembler {
    /// The maximum size of a payload that the peer may send, in bytes.
    let maxFrameSize: Int
    private var pending: [UInt8] = []

    init(maxFrameSize: Int) {
        self.maxFrameSize = maxFrameSize
    }

    /// Splits input into frames.
    /// - Parameters:
    ///   - skim: Called with input that starts at the beginning of a frame. Returns the number of bytes of the complete
    ///     frames that it consumed.
    ///   - take: Called with each frame that `skim` did not consume. Returns false to stop.
    /// - Returns: False if a frame exceeds the maximum size.
    mutating func read(
        _ bytes: UnsafeRawBufferPointer, skim: (UnsafeRawBufferPointer) -> Int = { _ in 0 },
        take: (HTTP2FrameHeader, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
        while !pending.isEmpty, !rest.isEmpty {
            let wanted = pending.withUnsafeBytes { Self.size(of: $0) } ?? HTTP2FrameHeader.size
            let count = min(wanted - pending.count, rest.count)
            pending.append(contentsOf: rest.prefix(count))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard let size = pending.withUnsafeBytes({ Self.size(of: $0) }) else { continue }
            guard size - HTTP2FrameHeader.size <= maxFrameSize else { return false }
            guard pending.count == size else { continue }
            let frame = pending
            pending.removeAll(keepingCapacity: true)
            guard frame.withUnsafeBytes({ Self.lend($0, to: take) }) else { return true }
        }
        while true {
            rest = UnsafeRawBufferPointer(rebasing: rest[skim(rest)...])
            guard let size = Self.size(of: rest) else { break }
            guard size - HTTP2FrameHeader.size <= maxFrameSize else { return false }
            guard rest.count >= size else { break }
            guard Self.lend(UnsafeRawBufferPointer(rebasing: rest[..<size]), to: take) else { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
        pending.append(contentsOf: rest)
        return true
    }

    /// Returns the length of a frame including its header; nil if the header is incomplete.
    private static func size(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= HTTP2FrameHeader.size else { return nil }
        return HTTP2FrameHeader.size + HTTP2FrameHeader(bytes).length
    }

    private static func lend(
        _ frame: UnsafeRawBufferPointer, to take: (HTTP2FrameHeader, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        take(HTTP2FrameHeader(frame), UnsafeRawBufferPointer(rebasing: frame[HTTP2FrameHeader.size...]))
    }
}
