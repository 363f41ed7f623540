/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, as RFC 7515 uses it).
public enum Base64URL {
    /// The text of `bytes`, not padded.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.urlSafe.encode(bytes, padded: false)
    }

    /// The bytes of `text`; nil if it is padded, its length is impossible, unused bits are set, or any other character
    /// appears.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        Base64Alphabet.urlSafe.decode(Array(text.utf8), padded: false)
    }
}
