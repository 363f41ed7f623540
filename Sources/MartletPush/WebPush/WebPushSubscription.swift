import MartletCrypto
import MartletHTTP
import MartletModel

/// The parts of a subscription that a request needs, parsed from the text of its handle.
struct WebPushSubscription {
    /// The part of the endpoint after the first slash of its path, including the query.
    let pathAfterSlash: ArraySlice<UInt8>
    /// The browser's public key, 65 bytes.
    let point: [UInt8]
    /// The browser's authentication secret, 16 bytes.
    let secret: [UInt8]

    /// Parses a handle; nil if a part is missing or has the wrong length. `WebPush.key(of:)` refuses such a handle at
    /// registration.
    /// - Parameter handle: The endpoint, `p256dh` and `auth`, one per line.
    init?(_ handle: some Collection<UInt8>) {
        let lines = Array(handle).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 3, let path = HandleRules.pathAfterSlash(of: lines[0]),
            let point = Self.decode(lines[1]), point.count == 65, let secret = Self.decode(lines[2]),
            secret.count == 16
        else { return nil }
        pathAfterSlash = path
        self.point = point
        self.secret = secret
    }

    /// Decodes Base64 in either alphabet, with or without padding, because browsers and libraries write different
    /// forms.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var digits = Array(text)[...]
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
