import MartletHTTP

struct HTTP1RequestEncoder {
    /// The names of the fields for framing and routing. Only this encoder sets these fields; values from the caller are
    /// ignored.
    static let own: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "expect", "te", "trailer",
    ]

    /// Returns true if the request is safe to write: no value can inject another field or request.
    static func isWritable(_ request: HTTPRequest, authority: String) -> Bool {
        FieldRules.isName(request.method.rawValue) && FieldRules.isVisible(request.target)
            && FieldRules.isVisible(authority)
            && request.fields.allSatisfy { FieldRules.isName($0.name) && FieldRules.isValue($0.value) }
    }

    /// Returns true if requests with this method state the length of their body even if it is empty (RFC 9110, section
    /// 8.6).
    static func statesEmptyBody(_ method: HTTPMethod) -> Bool {
        [.post, .put, .patch].contains(method)
    }

    static func append(_ request: HTTPRequest, authority: String, to output: inout [UInt8]) {
        func append(_ text: String) { output.append(contentsOf: text.utf8) }
        append("\(request.method.rawValue) \(request.target) HTTP/1.1\r\nhost: \(authority)\r\n")
        for field in request.fields where !own.contains(field.name) {
            append("\(field.name): \(field.value)\r\n")
        }
        if let upload = request.upload {
            append("content-length: \(upload.length)\r\n")
        } else if !request.body.isEmpty || statesEmptyBody(request.method) {
            append("content-length: \(request.body.count)\r\n")
        }
        append("\r\n")
        output.append(contentsOf: request.body)
    }
}
