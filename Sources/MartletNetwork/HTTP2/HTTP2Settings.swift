import CMartletNGHTTP2

/// The SETTINGS that one side of an HTTP/2 connection announces (RFC 9113, section 6.5.2), and its connection window.
public struct HTTP2Settings: Hashable, Sendable {
    /// MAX_CONCURRENT_STREAMS: the most requests that the peer may have open at once; nil uses
    /// `ServerLimits.concurrentStreams`.
    public var streamLimit: UInt32?
    /// HEADER_TABLE_SIZE, in bytes: the size of the dynamic table for fields from the peer.
    public var headerTableSize: UInt32 = 4096
    /// INITIAL_WINDOW_SIZE, in bytes: how much of a body the peer may send before a WINDOW_UPDATE.
    public var streamWindow: UInt32 = 65_535
    /// How many bytes of all bodies together the peer may send before a WINDOW_UPDATE. HTTP/2 starts at 65,535; a
    /// larger window is announced.
    public var connectionWindow: UInt32 = 1 << 20
    /// MAX_FRAME_SIZE, in bytes, 16,384 to 16,777,215.
    public var maxFrameSize: UInt32 = 16_384
    /// MAX_HEADER_LIST_SIZE, in bytes; nil announces none.
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
