import MartletHTTP

/// Encodes the head and the chunks of an HTTP/1.1 response.
struct HTTP1ResponseEncoder {
    enum Framing: Hashable {
        /// The status or method does not allow a body.
        case none
        case length(Int)
        case chunked
        /// The body ends when the connection closes (HTTP/1.0).
        case untilClose
    }

    /// Returns true if only this encoder sets a field: `date`, and the fields that describe the connection or the
    /// framing.
    ///
    /// Values of these fields from a handler are ignored.
    private static func isOwn(_ name: String) -> Bool {
        switch name {
        case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "trailer", "date": true
        default: false
        }
    }

    /// Returns true if the response is safe to write: no value can inject another field.
    static func isWritable(_ response: HTTPResponse) -> Bool {
        (200...999).contains(response.status.code)
            && response.fields.allSatisfy { FieldRules.isName($0.name) && FieldRules.isValue($0.value) }
    }

    /// Returns true if a response with this status never has a body (RFC 9110, section 6.4.1).
    static func isBodiless(_ status: HTTPStatus) -> Bool {
        status.code == 204 || status.code == 304
    }

    /// Appends the head of a response.
    /// - Parameters:
    ///   - connection: The value of the `connection` field; nil to omit the field.
    ///   - date: The value of the `date` field.
    static func appendHead(
        _ response: HTTPResponse, framing: Framing, connection: String?, date: String, to output: inout [UInt8]
    ) {
        // The head is appended piece by piece, because an interpolated string would be copied several times.
        append("HTTP/1.1 ", to: &output)
        append(String(response.status.code), to: &output)
        append(" ", to: &output)
        append(reason(response.status), to: &output)
        append("\r\ndate: ", to: &output)
        append(date, to: &output)
        append("\r\n", to: &output)
        for field in response.fields where !isOwn(field.name) {
            append(field.name, to: &output)
            append(": ", to: &output)
            append(field.value, to: &output)
            append("\r\n", to: &output)
        }
        switch framing {
        case .none, .untilClose: break
        case .length(let length): append("content-length: \(length)\r\n", to: &output)
        case .chunked: append("transfer-encoding: chunked\r\n", to: &output)
        }
        if let connection { append("connection: \(connection)\r\n", to: &output) }
        append("\r\n", to: &output)
    }

    static func appendChunk(_ bytes: [UInt8], to output: inout [UInt8]) {
        append(String(bytes.count, radix: 16), to: &output)
        append("\r\n", to: &output)
        output.append(contentsOf: bytes)
        append("\r\n", to: &output)
    }

    static func append(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { output.append(contentsOf: $0) }
    }

    /// Returns the reason phrase of a status.
    ///
    /// Programs ignore the phrase, but the phrases of common statuses help people who read the traffic.
    private static func reason(_ status: HTTPStatus) -> String {
        reasons[status.code] ?? "Status"
    }

    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed",
        422: "Unprocessable Content", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
