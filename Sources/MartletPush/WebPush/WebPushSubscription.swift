import MartletCrypto
import MartletHTTP
import MartletModel

/// A subscription as a request is made of it, read from the text of its handle.
struct WebPushSubscription {
    /// What follows the first slash of the endpoint's path, the query included.
    let pathAfterSlash: ArraySlice<UInt8>
    /// The browser's public key, 65 bytes.
    let point: [UInt8]
    /// The browser's authentication secret, 16 bytes.
    let secret: [UInt8]

    /// - Parameter handle: Endpoint, `p256dh` and `auth`, one to a line.
    /// - Returns: nil for anything that `WebPush.key(of:)` would have refused.
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

    /// Reads base 64 in either alphabet, padded or not, as browsers and libraries write it.
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
