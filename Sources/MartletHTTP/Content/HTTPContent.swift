/// Content of known length, such as a file. It is sent whole or as a range, and never loaded into memory as a whole.
public struct HTTPContent: Sendable {
    /// Reads `count` bytes starting at `offset`, or fewer at the end of the content.
    public typealias Read = @Sendable (_ offset: Int64, _ count: Int) async throws -> [UInt8]

    /// The reason why a request for the content is refused.
    public enum Refusal: Error, Hashable, Sendable {
        /// `If-Match` names another version of the content. The response is 412.
        case changed
        /// The range lies outside the content. The response is 416.
        case outOfRange
    }

    private static let pieceBytes = 64 * 1024

    public let length: Int64
    /// The strong entity tag, with its quotes.
    public let entityTag: String
    /// The time of the last change, in seconds since 1970.
    public let modifiedAt: Int64
    private let read: Read

    public init(length: Int64, entityTag: String, modifiedAt: Int64, read: @escaping Read) {
        self.length = length
        self.entityTag = entityTag
        self.modifiedAt = modifiedAt
        self.read = read
    }

    /// Returns the response to GET or HEAD: 200, 206 or 304, with the entity tag and the modification time.
    /// - Parameters:
    ///   - range: The value of a field that replaces `Range`, such as `x-ms-range`; nil to use `Range`.
    ///   - fields: Further fields of the response, such as `content-type`.
    public func response(
        to request: HTTPRequest, range: String? = nil, fields: HTTPFields = [:]
    ) throws(Refusal) -> HTTPResponse {
        var fields = fields
        fields["etag"] = entityTag
        fields["last-modified"] = IMFDate.text(modifiedAt)
        fields["accept-ranges"] = "bytes"
        if let wanted = request.fields["if-match"], !lists(wanted) { throw .changed }
        if let known = request.fields["if-none-match"], lists(known) { return HTTPResponse(304, fields: fields) }
        switch ByteRange(self.range(asked: range ?? request.fields["range"], request), length: length) {
        case .whole: return HTTPResponse(.ok, fields: fields, body: body(0..<length))
        case .unsatisfiable: throw .outOfRange
        case .part(let part):
            fields["content-range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            return HTTPResponse(206, fields: fields, body: body(part))
        }
    }

    /// Returns the requested range; nil if `If-Range` names another version, because a range of changed content is
    /// useless to the client (RFC 9110, section 13.1.5).
    private func range(asked range: String?, _ request: HTTPRequest) -> String? {
        guard let version = request.fields["if-range"] else { return range }
        return version == entityTag || version == IMFDate.text(modifiedAt) ? range : nil
    }

    private func lists(_ tags: String) -> Bool {
        tags.split(separator: ",").contains { tag in
            let tag = tag.drop { $0 == " " }.prefix { $0 != " " }
            return tag == "*" || tag == entityTag || tag.dropFirst(2) == entityTag && tag.hasPrefix("W/")
        }
    }

    private func body(_ part: Range<Int64>) -> HTTPBody {
        .stream(length: part.count) { [read] writer in
            var index = part.lowerBound
            while index < part.upperBound {
                let bytes = try await read(index, min(Self.pieceBytes, Int(part.upperBound - index)))
                // The content has become shorter. The response ends early, because its original length was already
                // sent.
                guard !bytes.isEmpty else { return }
                try await writer.write(bytes)
                index += Int64(bytes.count)
            }
        }
    }
}
