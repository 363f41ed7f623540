/// The target of a request in its parts: path segments and query items (RFC 3986, sections 3.3 and 3.4).
public struct HTTPTarget: Hashable, Sendable {
    /// One `name[=value]` of the query.
    public struct QueryItem: Hashable, Sendable {
        /// Decoded.
        public let name: String
        /// Decoded, `+` read as a space; nil for a bare flag.
        public let value: String?
        /// As it was sent: some callers encode twice.
        public let rawValue: String?
    }

    /// The path as it was sent, without the query.
    public let rawPath: Substring
    /// Percent-decoded; empty segments at the end (a trailing slash) are left out.
    public let segments: [String]
    public let query: [QueryItem]

    /// - Returns: nil where a percent escape is broken, decodes to something that is not UTF-8, or a decoded segment
    ///   is `.` or `..` or holds a NUL or a slash: such targets are never meant well.
    public init?(_ target: String) {
        // Places in an array are numbers, those in a text have to be reckoned with at every step.
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

    /// The first item of a name, which is compared without case.
    public func item(_ name: String) -> QueryItem? {
        let wanted = name.lowercased()
        return query.first { $0.name.lowercased() == wanted }
    }

    /// Whether a flag is set: bare, or with any value but `false` or `0`.
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
