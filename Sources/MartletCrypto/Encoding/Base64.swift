/// Base64 with padding (RFC 4648 section 4).
public enum Base64 {
    /// The text of `bytes`, padded, without line breaks.
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.standard.encode(bytes, padded: true)
    }

    /// The bytes of `text`; nil if padding is missing or wrong, unused bits are set, or any other character appears.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        Base64Alphabet.standard.decode(Array(text.utf8), padded: true)
    }

    /// The bytes of text in UTF-8; nil as for `decode(_:)`.
    public static func decode(utf8 text: [UInt8]) -> [UInt8]? {
        Base64Alphabet.standard.decode(text, padded: true)
    }
}
