/// Encodes a dictionary of strings as bytes: the names in sorted order, each followed by its value.
enum StringMapCoding {
    static func encode(_ map: [String: String]) -> [UInt8] {
        TextListCoding.encode(texts(of: map))
    }

    /// Decodes a dictionary; nil if the bytes were not written by `encode`.
    static func decode(_ bytes: [UInt8]) -> [String: String]? {
        TextListCoding.decode(bytes).flatMap { map(of: $0[...]) }
    }

    static func texts(of map: [String: String]) -> [String] {
        map.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }

    static func map(of texts: ArraySlice<String>) -> [String: String]? {
        guard texts.count.isMultiple(of: 2) else { return nil }
        var map: [String: String] = [:]
        for index in stride(from: texts.startIndex, to: texts.endIndex, by: 2) { map[texts[index]] = texts[index + 1] }
        return map
    }
}
