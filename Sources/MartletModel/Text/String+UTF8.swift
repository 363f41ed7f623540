extension String {
    /// A text of bytes in UTF-8; nil where they are none.
    @inlinable
    public init?(utf8 bytes: some Collection<UInt8>) {
        // Most texts are ASCII. The library's validation is generic and looks up its types with every call.
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

    /// For systems whose library cannot validate: what had to be repaired is not what it was.
    @usableFromInline
    static func repairing(_ bytes: some Collection<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
