public import MartletCore
import MartletCrypto
public import MartletModel

/// Web Push, which browsers' subscriptions speak (RFC 8030 and 8291; push services document, section 5).
public enum WebPush: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "browser"), aliases: ["webpush"], format: "browser",
        registrationElement: "Browser", handleElements: ["Endpoint", "P256DH", "Auth"],
        credentialElement: "BrowserCredential", credentialPlace: 14,
        credentialFields: [
            .init(name: "Subject", flag: "subject", help: "Who sends, as a mailto or https address."),
            .init(name: "VapidPublicKey", flag: "vapid-public-key", help: "The public key, in base64url."),
            .init(
                name: "VapidPrivateKey", flag: "vapid-private-key", help: "The private key, in base64url.",
                isSecret: true),
        ],
        outcomeCountsElement: "BrowserOutcomeCounts", outcomeCountsPlace: 9,
        fieldPrefixes: ["servicebusnotification-timetolive", "servicebusnotification-urgency"],
        payloadLimit: plaintextLimit, hiddenFrom: ["api-origin=dotnetsdk"])

    /// What is left of the 4,096 bytes that a service must take, behind the header, the tag and the delimiter of the
    /// encryption.
    static let plaintextLimit = 3993

    /// A subscription is known by its endpoint: with other keys it is the same one, renewed.
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard handle.parts.count == 3 else {
            throw PushServiceError(.badHandle, "A subscription has an endpoint, a p256dh and an auth.")
        }
        guard let endpoint = HandleRules.canonicalURL(handle.parts[0]) else {
            throw PushServiceError(.badHandle, "The endpoint of a subscription is an absolute https address.")
        }
        guard let point = decode(handle.parts[1]), point.count == 65, point[0] == 4 else {
            throw PushServiceError(
                .badHandle, "The p256dh of a subscription is an uncompressed point of 65 bytes in base64url.")
        }
        guard let secret = decode(handle.parts[2]), secret.count == 16 else {
            throw PushServiceError(.badHandle, "The auth of a subscription is 16 bytes in base64url.")
        }
        return endpoint
    }

    /// Installations hold a subscription as JSON text: `{"endpoint", "p256dh", "auth"}`, the last two in `keys` where a
    /// browser has written it.
    public static func handle(from text: String) -> PushHandle {
        guard let subscription = try? JSON(parsing: Array(text.utf8), maximumDepth: 4),
            let endpoint = subscription["endpoint"]?.string
        else { return PushHandle(text: text) }
        let keys = subscription["keys"] ?? subscription
        return PushHandle(endpoint, keys["p256dh"]?.string ?? "", keys["auth"]?.string ?? "")
    }

    /// The endpoint is enough to know a subscription by.
    public static func key(meantBy text: String) -> String? {
        HandleRules.canonicalURL(handle(from: text).parts[0])
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: plaintextLimit)
    }

    public static func message(showing text: String) throws(PushServiceError) -> Message {
        try Payload.message(["title": .string(text)], on: WebPush.self)
    }

    /// Reads base 64 in either alphabet, padded or not, as browsers and libraries write it.
    static func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        let urlSafe = digits.map { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: digit
            }
        }
        return Base64URL.decode(String(decoding: urlSafe, as: UTF8.self))
    }
}
