public import MartletModel

/// Encodes and decodes the values for which each store has its own format: templates, variables and summaries of pages.
public enum MovedContent {
    public static func encode(_ template: Template) -> [UInt8] {
        var bytes: [UInt8] = []
        MovedValue(template.name).append(to: &bytes)
        MovedValue(template.body).append(to: &bytes)
        MovedValue.list(template.headers.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }).append(to: &bytes)
        pairs(template.options).append(to: &bytes)
        return bytes
    }

    public static func encode(_ variables: [String: String]) -> [UInt8] {
        var bytes: [UInt8] = []
        pairs(variables).append(to: &bytes)
        return bytes
    }

    /// Encodes the summary of a page: its counts, reasons and origins.
    public static func encode(_ range: RangeRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        pairs(
            Dictionary(range.counts.map { ($0.rawValue, String($1)) }, uniquingKeysWith: { $1 })
        ).append(to: &bytes)
        pairs(Dictionary(range.reasons.map { ($0.rawValue, $1) }, uniquingKeysWith: { $1 })).append(to: &bytes)
        MovedValue.list(range.origins.map { Array($0.utf8) }).append(to: &bytes)
        return bytes
    }

    private static func pairs(_ map: [String: String]) -> MovedValue {
        .list(map.sorted { $0.key < $1.key }.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] })
    }

    // MARK: Decoding

    public static func template(_ bytes: [UInt8]) throws(StorageError) -> Template {
        var reader = Reader(bytes)
        let name = try reader.optionalText()
        guard let body = try reader.optionalText() else { throw Self.unreadable }
        let headers = try reader.texts()
        return Template(
            name: name, body: body,
            headers: stride(from: 0, to: headers.count - 1, by: 2).map {
                Template.Header(name: headers[$0], value: headers[$0 + 1])
            }, options: try reader.map())
    }

    public static func variables(_ bytes: [UInt8]) throws(StorageError) -> [String: String] {
        var reader = Reader(bytes)
        return try reader.map()
    }

    public static func read(_ bytes: [UInt8], into range: inout RangeRecord) throws(StorageError) {
        var reader = Reader(bytes)
        for (name, count) in try reader.map() { range.counts[OutcomeName(rawValue: name)] = Int(count) }
        for (name, reason) in try reader.map() { range.reasons[OutcomeName(rawValue: name)] = reason }
        range.origins = try reader.texts()
    }

    private static var unreadable: StorageError {
        StorageError(.corrupt, "A value that is moved cannot be read back. Nothing was completed.")
    }

    private struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) {
            rest = bytes[...]
        }

        mutating func optionalText() throws(StorageError) -> String? {
            switch rest.popFirst() {
            case 0: return nil
            case 2: return try text()
            default: throw unreadable
            }
        }

        mutating func texts() throws(StorageError) -> [String] {
            guard rest.popFirst() == 3 else { throw unreadable }
            var texts: [String] = []
            for _ in 0..<(try count()) { texts.append(try text()) }
            return texts
        }

        mutating func map() throws(StorageError) -> [String: String] {
            let texts = try texts()
            var map: [String: String] = [:]
            for index in stride(from: 0, to: texts.count - 1, by: 2) { map[texts[index]] = texts[index + 1] }
            return map
        }

        private mutating func text() throws(StorageError) -> String {
            let count = try count()
            guard count <= rest.count else { throw unreadable }
            defer { rest = rest.dropFirst(count) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }

        private mutating func count() throws(StorageError) -> Int {
            guard rest.count >= 4 else { throw unreadable }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
