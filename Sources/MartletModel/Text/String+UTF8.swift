extension String {
    /// Creates a text from UTF-8; nil if the bytes are invalid.
    @inlinable
    public init?(utf8 bytes: some Collection<UInt8>) {
        // A fast path for ASCII, because most texts are ASCII and the standard library's generic validation is slow.
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self = String(decoding: bytes, as: UTF8.self)
            return
        }
        let text =
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                String(validating: bytes, as: UTF8.self)
            } else {
                String.repairing(bytes)
            }
        guard let text else { return nil }
        self = text
    }

    /// Creates a text from UTF-8, or returns nil if the bytes are invalid, on systems whose standard library has no
    /// validating initializer. The bytes are decoded with repair, and the result is compared with the original bytes.
    @usableFromInline
    static func repairing(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
