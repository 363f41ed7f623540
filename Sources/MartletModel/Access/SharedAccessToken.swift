/// Creates the value of the header field `Authorization`. With this value, a client proves that it knows a key
/// (NotificationHubs.md, section 2.1).
public enum SharedAccessToken {
    /// Creates a token for a resource and everything below it.
    /// - Parameters:
    ///   - resource: An absolute URL without a query, such as the URL of the hub or of the endpoint.
    ///   - expiry: The end of the token's validity. Fractions of a second are dropped.
    ///   - sign: Returns the HMAC-SHA256 of `message` with `key`, in padded Base64.
    public static func authorization(
        for resource: String, keyName: String, key: String, expiry: Timestamp,
        sign: (_ message: [UInt8], _ key: [UInt8]) throws -> String
    ) rethrows -> String {
        let resource = escaped(resource.lowercased())
        let message = Array("\(resource)\n\(expiry.seconds)".utf8)
        let signature = escaped(try sign(message, Array(key.utf8)))
        return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(expiry.seconds)&skn=\(escaped(keyName))"
    }

    /// Percent-encodes everything except the unreserved characters of RFC 3986.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
