/// Encodes frames (RFC 9113, section 6).
enum HTTP2FrameWriter {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func header(_ frame: HTTP2FrameHeader, into output: inout [UInt8]) {
        output.append(UInt8(truncatingIfNeeded: frame.length >> 16))
        output.append(UInt8(truncatingIfNeeded: frame.length >> 8))
        output.append(UInt8(truncatingIfNeeded: frame.length))
        output.append(frame.kind)
        output.append(frame.flags)
        number(UInt32(bitPattern: frame.stream), into: &output)
    }

    static func number(_ value: UInt32, into output: inout [UInt8]) {
        output.append(UInt8(truncatingIfNeeded: value >> 24))
        output.append(UInt8(truncatingIfNeeded: value >> 16))
        output.append(UInt8(truncatingIfNeeded: value >> 8))
        output.append(UInt8(truncatingIfNeeded: value))
    }

    static func settings(_ entries: [(id: UInt16, value: UInt32)], into output: inout [UInt8]) {
        header(
            HTTP2FrameHeader(length: 6 * entries.count, kind: HTTP2FrameHeader.Kind.settings, stream: 0), into: &output)
        for entry in entries {
            output.append(UInt8(truncatingIfNeeded: entry.id >> 8))
            output.append(UInt8(truncatingIfNeeded: entry.id))
            number(entry.value, into: &output)
        }
    }

    static func settingsAcknowledgement(into output: inout [UInt8]) {
        let flag = HTTP2FrameHeader.Flag.acknowledgement
        header(HTTP2FrameHeader(length: 0, kind: HTTP2FrameHeader.Kind.settings, flags: flag, stream: 0), into: &output)
    }

    /// Encodes a PING frame.
    /// - Parameter payload: Exactly eight octets.
    static func ping(_ payload: some Collection<UInt8>, isAnswer: Bool, into output: inout [UInt8]) {
        let flags = isAnswer ? HTTP2FrameHeader.Flag.acknowledgement : 0
        header(HTTP2FrameHeader(length: 8, kind: HTTP2FrameHeader.Kind.ping, flags: flags, stream: 0), into: &output)
        output.append(contentsOf: payload)
    }

    static func reset(_ stream: Int32, _ code: HTTP2ErrorCode, into output: inout [UInt8]) {
        header(HTTP2FrameHeader(length: 4, kind: HTTP2FrameHeader.Kind.reset, stream: stream), into: &output)
        number(code.rawValue, into: &output)
    }

    static func goAway(_ code: HTTP2ErrorCode, into output: inout [UInt8]) {
        header(HTTP2FrameHeader(length: 8, kind: HTTP2FrameHeader.Kind.goAway, stream: 0), into: &output)
        number(0, into: &output)
        number(code.rawValue, into: &output)
    }

    static func windowUpdate(_ stream: Int32, by count: Int, into output: inout [UInt8]) {
        header(HTTP2FrameHeader(length: 4, kind: HTTP2FrameHeader.Kind.windowUpdate, stream: stream), into: &output)
        number(UInt32(count), into: &output)
    }

    /// Splits a header block into a HEADERS frame and, if the peer's maximum frame size requires it, CONTINUATION
    /// frames.
    /// - Parameters:
    ///   - start: The offset in `output` of nine octets that are reserved for the frame header. The header block
    ///     follows them.
    static func headers(
        at start: Int, on stream: Int32, isLast: Bool, maxFrameSize: Int, into output: inout [UInt8]
    ) {
        let length = output.count - start - HTTP2FrameHeader.size
        let endStream = isLast ? HTTP2FrameHeader.Flag.endStream : 0
        var frame = HTTP2FrameHeader(
            length: length, kind: HTTP2FrameHeader.Kind.headers, flags: endStream | HTTP2FrameHeader.Flag.endHeaders,
            stream: stream)
        guard length > maxFrameSize else { return patch(frame, at: start, in: &output) }
        var rest = Array(output[(start + HTTP2FrameHeader.size)...])[...]
        output.removeSubrange(start...)
        frame.flags = endStream
        repeat {
            let piece = rest.prefix(maxFrameSize)
            rest = rest.dropFirst(piece.count)
            frame.length = piece.count
            if rest.isEmpty { frame.flags |= HTTP2FrameHeader.Flag.endHeaders }
            header(frame, into: &output)
            output.append(contentsOf: piece)
            frame.kind = HTTP2FrameHeader.Kind.continuation
            frame.flags = 0
        } while !rest.isEmpty
    }

    /// Reserves space for a frame header, which is filled in after the payload has been written. Returns the offset of
    /// the header.
    static func reserveHeader(in output: inout [UInt8]) -> Int {
        output.append(contentsOf: repeatElement(0, count: HTTP2FrameHeader.size))
        return output.count - HTTP2FrameHeader.size
    }

    private static func patch(_ frame: HTTP2FrameHeader, at start: Int, in output: inout [UInt8]) {
        output.withUnsafeMutableBytes { bytes in
            let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + HTTP2FrameHeader.size])
            room[0] = UInt8(truncatingIfNeeded: frame.length >> 16)
            room[1] = UInt8(truncatingIfNeeded: frame.length >> 8)
            room[2] = UInt8(truncatingIfNeeded: frame.length)
            room[3] = frame.kind
            room[4] = frame.flags
            room.storeBytes(of: UInt32(bitPattern: frame.stream).bigEndian, toByteOffset: 5, as: UInt32.self)
        }
    }
}
