/// The parameters of the peer's SETTINGS that a bulk session uses (RFC 9113, section 6.5.2).
struct BulkPeerSettings: Equatable {
    static let headerTableSize: UInt16 = 1
    static let enablePush: UInt16 = 2
    static let maxConcurrentStreams: UInt16 = 3
    static let initialWindowSize: UInt16 = 4
    static let maxFrameSize: UInt16 = 5

    var initialWindow = 65_535
    var maxFrameSize = 16_384
}
