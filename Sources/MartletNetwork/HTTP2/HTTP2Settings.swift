import CMartletNGHTTP2

/// The SETTINGS that one side of an HTTP/2 connection announces (RFC 9113, section 6.5.2), and its connection window.
public struct HTTP2Settings: Hashable, Sendable {
    /// MAX_CONCURRENT_STREAMS: the maximum number of requests that the peer may have open at the same time; nil to use
    /// `ServerLimits.concurrentStreams`.
    public var streamLimit: UInt32?
    /// HEADER_TABLE_SIZE: the maximum size of the dynamic table for fields received from the peer, in bytes.
    public var headerTableSize: UInt32 = 4096
    /// INITIAL_WINDOW_SIZE: the number of bytes of one body that the peer may send before it receives a WINDOW_UPDATE.
    public var streamWindow: UInt32 = 65_535
    /// The number of bytes of all bodies together that the peer may send before it receives a WINDOW_UPDATE. The
    /// initial window of every HTTP/2 connection is 65,535 bytes; a larger window is announced with a WINDOW_UPDATE.
    public var connectionWindow: UInt32 = 1 << 20
    /// MAX_FRAME_SIZE: the maximum size of a frame's payload, from 16,384 to 16,777,215 bytes.
    public var maxFrameSize: UInt32 = 16_384
    /// MAX_HEADER_LIST_SIZE: the maximum size of the header fields of a message, in bytes; nil to use
    /// `ServerLimits.fieldBytes`.
    public var headerListSize: UInt32?

    public init() {}

    var entries: [(id: nghttp2_settings_id, value: UInt32)] {
        var entries: [(id: nghttp2_settings_id, value: UInt32)] = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, streamWindow),
            (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maxFrameSize),
        ]
        if let streamLimit { entries.append((NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streamLimit)) }
        if let headerListSize { entries.append((NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, headerListSize)) }
        return entries
    }
}
