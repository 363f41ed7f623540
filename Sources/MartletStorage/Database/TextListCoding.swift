/// Encodes a list of strings as bytes, each preceded by its length in four bytes, big-endian.
enum TextListCoding {
    static func encode(_ texts: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + 4 + $1.utf8.count })
        for text in texts {
            withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }

    /// Decodes a list; nil if the bytes were not written by `encode`.
    static func decode(_ bytes: [UInt8]) -> [String]? {
        var texts: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let text = text(from: &rest) else { return nil }
            texts.append(text)
        }
        return texts
    }

    private static func text(from rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.count >= 4 else { return nil }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard rest.count >= length else { return nil }
        defer { rest = rest.dropFirst(length) }
        return String(validating: rest.prefix(length), as: UTF8.self)
    }
}
