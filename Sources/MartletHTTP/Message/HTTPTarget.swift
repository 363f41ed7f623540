/// The target of a request, parsed into path segments and query items (RFC 3986, sections 3.3 and 3.4).
public struct HTTPTarget: Hashable, Sendable {
    /// One `name[=value]` of the query.
    public struct QueryItem: Hashable, Sendable {
        /// The percent-decoded name.
        public let name: String
        /// The percent-decoded value, with `+` read as a space; nil for a bare flag.
        public let value: String?
        /// The value as received. Needed for Base64, whose plus signs some clients do not escape, and to repeat a query
        /// unchanged.
        public let rawValue: String?
    }

    /// The path as received, without the query.
    public let rawPath: Substring
    /// The percent-decoded segments, without the empty segments that trailing slashes would produce.
    public let segments: [String]
    public let query: [QueryItem]

    /// Parses a target.
    /// - Returns: Nil if the target does not begin with a slash, or if a percent escape is invalid or decodes to bytes
    ///   that are not UTF-8. Also nil if a decoded segment is `.` or `..` or contains a NUL or a slash, because such
    ///   targets are attacks.
    public init?(_ target: String) {
        // An array is used because its indices are integers; string indices are slow.
        let bytes = Array(target.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        rawPath = target[..<target.utf8.index(target.startIndex, offsetBy: mark)]
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        let parts = bytes[..<mark].dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts {
            guard let segment = PercentEncoding.decode(part), Self.isHarmless(segment) else { return nil }
            segments.append(segment)
        }
        while segments.last?.isEmpty == true { segments.removeLast() }
        self.segments = segments
        var query: [QueryItem] = []
        for part in bytes[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
            guard let item = QueryItem(part) else { return nil }
            query.append(item)
        }
        self.query = query
    }

    /// Returns the first item with a name, ignoring the case of names.
    public func item(_ name: String) -> QueryItem? {
        let wanted = name.lowercased()
        return query.first { $0.name.lowercased() == wanted }
    }

    /// Returns true if the query contains a flag without a value, or with any value except `false` or `0`.
    public func flag(_ name: String) -> Bool {
        guard let item = item(name) else { return false }
        return item.value.map { !["false", "0"].contains($0.lowercased()) } ?? true
    }

    private static func isHarmless(_ segment: String) -> Bool {
        segment != "." && segment != ".." && !segment.utf8.contains(0) && !segment.utf8.contains(UInt8(ascii: "/"))
    }
}

extension HTTPTarget.QueryItem {
    init?(_ part: ArraySlice<UInt8>) {
        let equals = part.firstIndex(of: UInt8(ascii: "="))
        guard let name = PercentEncoding.decode(part[..<(equals ?? part.endIndex)], plusIsSpace: true) else {
            return nil
        }
        self.name = name
        guard let equals else {
            value = nil
            rawValue = nil
            return
        }
        let sent = part[(equals + 1)...]
        guard let value = PercentEncoding.decode(sent, plusIsSpace: true) else { return nil }
        self.value = value
        rawValue = String(decoding: sent, as: UTF8.self)
    }
}
