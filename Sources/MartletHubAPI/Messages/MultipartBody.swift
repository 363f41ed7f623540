import MartletHTTP

/// A body of several parts (RFC 2046, section 5.1). Each part is identified by the name in its `Content-Disposition`.
///
/// Lines may end in a bare line feed, as in hand-written bodies. Text before the first delimiter and after the last
/// delimiter is ignored.
struct MultipartBody {
    /// The limits of a body. The size of the whole body is limited elsewhere, by its route.
    enum Limit {
        static let parts = 8
        static let headerLines = 16
        static let headerBytes = 4096
        static let boundary = 1...70
    }

    /// The content of each part, keyed by name.
    private(set) var parts: [String: ArraySlice<UInt8>] = [:]

    /// - Parameter contentType: The `Content-Type` header of the request, which states the boundary.
    init(_ body: [UInt8], contentType: String?) throws(HubAPIError) {
        let delimiter = try Self.delimiter(contentType)
        var lines = Lines(body[...])
        var start: Int?
        while let line = lines.next() {
            guard let kind = Self.kind(of: line, delimiter) else { continue }
            if let start { try add(body[start..<Self.contentEnd(before: line.startIndex, in: body, from: start)]) }
            if kind == .last { return }
            start = lines.position
        }
        throw .badRequest(
            start == nil
                ? "The body has no line with the boundary that Content-Type names"
                : "The multipart body does not end with its boundary and two hyphens")
    }

    private static func delimiter(_ contentType: String?) throws(HubAPIError) -> [UInt8] {
        guard let type = contentType.flatMap({ HeaderParameters($0) }), type.value.hasPrefix("multipart/"),
            let boundary = type["boundary"], Limit.boundary.contains(boundary.utf8.count)
        else {
            throw .badRequest(
                "A batch needs the header Content-Type: multipart/mixed with a boundary of at most "
                    + "\(Limit.boundary.upperBound) characters")
        }
        return Array("--\(boundary)".utf8)
    }

    private enum Delimiter {
        case next
        case last
    }

    /// Returns the kind of delimiter on a line; nil if the line is not a delimiter. White space after the delimiter is
    /// ignored.
    private static func kind(of line: ArraySlice<UInt8>, _ delimiter: [UInt8]) -> Delimiter? {
        guard line.starts(with: delimiter) else { return nil }
        var end = line.dropFirst(delimiter.count)
        while let last = end.last, last == 0x20 || last == 0x09 || last == 0x0D { end.removeLast() }
        if end.isEmpty { return .next }
        return end.elementsEqual("--".utf8) ? .last : nil
    }

    /// Returns the offset at which the content before a delimiter ends. The line break before a delimiter is part of
    /// the delimiter.
    private static func contentEnd(before delimiter: Int, in body: [UInt8], from start: Int) -> Int {
        guard delimiter > start else { return start }
        let end = delimiter - 1
        return end > start && body[end - 1] == 0x0D ? end - 1 : end
    }

    private mutating func add(_ part: ArraySlice<UInt8>) throws(HubAPIError) {
        var lines = Lines(part)
        var name: String?
        var count = 0
        while let line = lines.next(), !line.isBlank {
            count += 1
            guard count <= Limit.headerLines, lines.position - part.startIndex <= Limit.headerBytes else {
                throw .badRequest(
                    "A part of the body has more than \(Limit.headerLines) headers or \(Limit.headerBytes) bytes of them"
                )
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw .badRequest("A header of a part has no colon; an empty line must stand before the part's content")
            }
            let field = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            if field == "content-disposition" { name = try Self.name(line[(colon + 1)...]) }
        }
        guard let name else { throw .badRequest("A part of the body has no Content-Disposition with a name") }
        guard parts.count < Limit.parts else { throw .badRequest("The body has more than \(Limit.parts) parts") }
        guard parts.updateValue(part[lines.position...], forKey: name) == nil else {
            throw .badRequest("Two parts of the body have the same name")
        }
    }

    private static func name(_ value: ArraySlice<UInt8>) throws(HubAPIError) -> String {
        let text = String(decoding: value.filter { $0 != 0x0D }, as: UTF8.self)
        guard let name = HeaderParameters(text)?["name"] else {
            throw .badRequest("The Content-Disposition of a part must be such as: inline; name=notification")
        }
        return name
    }
}

/// Iterates over the lines of a body, without their line feeds.
private struct Lines: IteratorProtocol {
    private let bytes: ArraySlice<UInt8>
    /// The offset at which the next line begins.
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard position < bytes.endIndex else { return nil }
        let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.endIndex
        defer { position = min(end + 1, bytes.endIndex) }
        return bytes[position..<end]
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isBlank: Bool { isEmpty || (count == 1 && first == 0x0D) }
}
