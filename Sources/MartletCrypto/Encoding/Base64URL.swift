/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, as used by RFC 7515).
public enum Base64URL {
    /// Returns the Base64url text of `bytes`, without padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.urlSafe.encode(bytes, padded: false)
    }

    /// Returns the bytes of `text`; nil if the text is padded, has an impossible length, has unused bits that are set,
    /// or contains a character that is not in the alphabet.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        Base64Alphabet.urlSafe.decode(Array(text.utf8), padded: false)
    }
}
