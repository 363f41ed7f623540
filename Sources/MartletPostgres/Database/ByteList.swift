/// Encodes a list of optional values as bytes, each preceded by its length in four bytes, big-endian. The length -1
/// stands for nil.
struct ByteList {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: [UInt8]?) { add(count: value?.count, value ?? []) }
    mutating func add(_ value: String?) { add(count: value?.utf8.count, value?.utf8 ?? "".utf8) }

    mutating func add(_ value: Int64?) {
        add(value.map { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } })
    }

    private mutating func add(count: Int?, _ content: some Sequence<UInt8>) {
        withUnsafeBytes(of: Int32(count ?? -1).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: content)
    }

    /// Encodes a dictionary in the order of its names, so that equal dictionaries give equal bytes.
    static func bytes(of map: [String: String]) -> [UInt8] {
        var list = ByteList()
        for (name, value) in map.sorted(by: { $0.key < $1.key }) {
            list.add(name)
            list.add(value)
        }
        return list.bytes
    }
}

extension ByteList {
    static func bytes(of texts: [String]) -> [UInt8] {
        var list = ByteList()
        for text in texts { list.add(text) }
        return list.bytes
    }
}

/// Decodes bytes that `ByteList` has encoded. A value that is missing, or whose length is invalid, is nil.
struct ByteListReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes() -> [UInt8]? {
        guard rest.count >= 4 else { return nil }
        let length = Int(Int32(bitPattern: rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
        rest = rest.dropFirst(4)
        guard length >= 0, length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }

    mutating func text() -> String? { bytes().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func integer() -> Int64? {
        guard let bytes = bytes(), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Decodes a list of strings; nil if the bytes are not such a list.
    static func texts(_ bytes: [UInt8]) -> [String]? {
        var reader = ByteListReader(bytes)
        var texts: [String] = []
        while !reader.isAtEnd {
            guard let text = reader.text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// Decodes the remaining bytes as a dictionary; nil if they are not a dictionary.
    mutating func map() -> [String: String]? {
        var map: [String: String] = [:]
        while !isAtEnd {
            guard let name = text(), let value = text() else { return nil }
            map[name] = value
        }
        return map
    }

    static func map(_ bytes: [UInt8]) -> [String: String]? {
        var reader = ByteListReader(bytes)
        return reader.map()
    }
}
