/// The error code of a stream or connection (RFC 9113, section 7).
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let noError = HTTP2ErrorCode(rawValue: 0)
    public static let protocolError = HTTP2ErrorCode(rawValue: 1)
    public static let internalError = HTTP2ErrorCode(rawValue: 2)
    public static let flowControlError = HTTP2ErrorCode(rawValue: 3)
    public static let frameSizeError = HTTP2ErrorCode(rawValue: 6)
    public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    public static let cancel = HTTP2ErrorCode(rawValue: 8)
    public static let compressionError = HTTP2ErrorCode(rawValue: 9)
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
}
