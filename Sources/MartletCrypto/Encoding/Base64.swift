/// Base64 with padding (RFC 4648 section 4).
public enum Base64 {
    /// Returns the Base64 text of `bytes`, padded, without line breaks.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.standard.encode(bytes, padded: true)
    }

    /// Returns the bytes of `text`; nil if padding is missing or wrong, unused bits are set, or the text contains a
    /// character that is not in the alphabet.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        Base64Alphabet.standard.decode(Array(text.utf8), padded: true)
    }

    /// Returns the bytes of a text given in UTF-8; nil in the same cases as for `decode(_:)`.
    public static func decode(utf8 text: [UInt8]) -> [UInt8]? {
        Base64Alphabet.standard.decode(text, padded: true)
    }
}
