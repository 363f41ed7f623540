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
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        rawPath = target[..<mark]
        guard rawPath.first == "/" else { return nil }
        var segments: [String] = []
        for part in rawPath.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(part), Self.isHarmless(segment) else { return nil }
            segments.append(segment)
        }
        while segments.last?.isEmpty == true { segments.removeLast() }
        self.segments = segments
        var query: [QueryItem] = []
        for part in target[mark...].dropFirst().split(separator: "&") {
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
    init?(_ part: Substring) {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentEncoding.decode(pair[0], plusIsSpace: true) else { return nil }
        self.name = name
        guard pair.count == 2 else {
            value = nil
            rawValue = nil
            return
        }
        guard let value = PercentEncoding.decode(pair[1], plusIsSpace: true) else { return nil }
        self.value = value
        rawValue = String(pair[1])
    }
}
