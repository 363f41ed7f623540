import MartletCrypto
import MartletHTTP
import MartletModel

/// Determines what a request is about, for the audit log.
enum AuditSubject {
    /// The maximum size of a value in a subject, in bytes. A longer value is probably a handle or a tag expression. The
    /// audit log is kept for a year, so it contains only the beginning of such a value.
    private static let limit = 128
    /// The maximum size of a name in a subject, in bytes. User names have the same limit, so they are never shortened:
    /// the entry must tell whose account it is about.
    private static let nameLimit = 256
    /// The number of characters that are kept of a longer value.
    private static let beginning = 16

    /// Returns the subject of a request; nil if the request is only about its hub.
    ///
    /// The subject consists of all parameters of the path except the hub, with spaces between them; for an invitation
    /// it is the operator's name in the body.
    /// - Parameters:
    ///   - pattern: The pattern of the route, such as `/hubs/{hub}/campaigns/{id}`.
    ///   - value: Returns the value of a parameter of the path.
    static func subject(_ pattern: String, body: [UInt8], value: (String) -> String) -> String? {
        if ["/operators", "/operators/link"].contains(pattern) {
            let body = try? JSON(parsing: body)
            return body?["name"]?.string.map { String($0.prefix(64)) }
        }
        let values = pattern.split(separator: "/").filter { $0.hasPrefix("{") && $0 != "{hub}" }.map { part in
            let name = String(part.dropFirst().dropLast(part.hasSuffix("...}") ? 4 : 1))
            return shortened(value(name), to: name == "name" ? nameLimit : limit)
        }
        return values.isEmpty ? nil : values.joined(separator: " ")
    }

    /// Returns a text with at most `limit` bytes, or the beginning of a longer one, followed by an ellipsis.
    private static func shortened(_ text: String, to limit: Int) -> String {
        text.utf8.count <= limit ? text : String(text.unicodeScalars.prefix(beginning)) + "…"
    }

    /// Returns the subject of a test send, which creates no notification. The subject contains the audience and the
    /// beginning of the SHA-256 hash of the request's body. A known text can be recognized by this hash.
    static func ofTest(_ request: HTTPRequest, _ target: HTTPTarget) -> String {
        let digest = Hex.encode(Array(SHA256.hash(request.body).prefix(8)))
        let audience = request.fields["servicebusnotification-tags"].map { $0.utf8.count <= limit ? $0 : "…" }
        let others =
            target.segments.last == "$batch" ? "handles" : target.flag("direct") ? "1 handle" : "everybody"
        return "sha256:\(digest) → \(audience ?? others)"
    }

    /// Returns the id of the notification that a request has created, from the field `Location` of the answer; nil if
    /// the answer names none.
    static func made(by response: HTTPResponse) -> String? {
        guard let location = response.fields["location"] else { return nil }
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init)
        return id.flatMap { $0.utf8.count <= limit ? $0 : nil }
    }
}
