/// A dictionary of texts as bytes: names in order, each name and value behind its length in four bytes, big-endian.
enum StringMapCoding {
    static func encode(_ map: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in map.sorted(by: { $0.key < $1.key }) {
            for text in [name, value] {
                withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
                bytes.append(contentsOf: text.utf8)
            }
        }
        return bytes
    }

    /// - Returns: nil where the bytes were not written by `encode`.
    static func decode(_ bytes: [UInt8]) -> [String: String]? {
        var map: [String: String] = [:]
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let name = text(from: &rest), let value = text(from: &rest) else { return nil }
            map[name] = value
        }
        return map
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
