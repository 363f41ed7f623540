/// The nine-octet header of a frame (RFC 9113, section 4.1).
struct HTTP2FrameHeader: Equatable {
    static let size = 9

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    enum Flag {
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    var length: Int
    var kind: UInt8
    var flags: UInt8
    var stream: Int32

    init(length: Int, kind: UInt8, flags: UInt8 = 0, stream: Int32) {
        self.length = length
        self.kind = kind
        self.flags = flags
        self.stream = stream
    }

    /// Parses the header at the beginning of a frame.
    /// - Parameter bytes: At least nine octets.
    init(_ bytes: UnsafeRawBufferPointer) {
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        kind = bytes[3]
        flags = bytes[4]
        stream = Int32(bitPattern: bytes.loadUnaligned(fromByteOffset: 5, as: UInt32.self).bigEndian & 0x7FFF_FFFF)
    }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}
