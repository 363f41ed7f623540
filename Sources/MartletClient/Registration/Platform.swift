/// A push platform, identified by the server's name for it. A server may know further platforms, which can be written
/// as string literals.
public struct Platform: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Apple's devices, through the Apple Push Notification service.
    public static let apns: Platform = "apns"
    /// Android, through Firebase Cloud Messaging.
    public static let fcm: Platform = "fcmv1"
    /// Browsers, through Web Push.
    public static let webPush: Platform = "webpush"
    /// Windows, through Windows Push Notification Services.
    public static let wns: Platform = "wns"
    /// Amazon's devices, through Amazon Device Messaging.
    public static let adm: Platform = "adm"

    /// The server's name for the platform, or an alias that the server accepts.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral word: String) { rawValue = word }

    public var description: String { rawValue }
}
