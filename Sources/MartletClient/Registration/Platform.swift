/// A push platform, by the server's word for it. The set is open: a server may know others, which are written as text.
public struct Platform: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Apple's devices.
    public static let apns: Platform = "apns"
    /// Android, by Firebase Cloud Messaging.
    public static let fcm: Platform = "fcmv1"
    /// Browsers.
    public static let webPush: Platform = "webpush"
    /// Windows.
    public static let wns: Platform = "wns"
    /// Amazon's devices.
    public static let adm: Platform = "adm"

    /// The server's word, or one that the server takes for it.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral word: String) { rawValue = word }

    public var description: String { rawValue }
}
