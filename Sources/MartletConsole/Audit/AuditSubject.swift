import MartletCrypto
import MartletHTTP
import MartletModel

/// Determines what a request is about, for the audit log.
enum AuditSubject {
    /// The maximum size of a value in a subject, in bytes. A longer value is cut: it is probably a handle or a tag
    /// expression, and the audit log, which is kept for a year, must contain neither.
    private static let limit = 128
    /// The maximum size of a name in a subject, in bytes: that of a user's name, because the entry must tell whose
    /// account it is about.
    private static let nameLimit = 256

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
            return cut(value(name), to: name == "name" ? nameLimit : limit)
        }
        return values.isEmpty ? nil : values.joined(separator: " ")
    }

    /// Returns a text with at most `limit` bytes. It ends with an ellipsis if something is missing.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let mark = "…"
        var kept = String.UnicodeScalarView()
        var room = limit - mark.utf8.count
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            kept.append(scalar)
        }
        return String(kept) + mark
    }

    /// Returns the subject of a test send, which creates no notification. The subject contains the audience and the
    /// beginning of the SHA-256 hash of the request's body. A known text can be recognized by this hash.
    static func ofTest(_ request: HTTPRequest) -> String {
        let digest = Hex.encode(Array(SHA256.hash(request.body).prefix(8)))
        let audience = request.fields["servicebusnotification-tags"].map { $0.utf8.count <= limit ? $0 : "…" }
        return "sha256:\(digest) → \(audience ?? "1 handle")"
    }

    /// Returns the id of the notification that a request has created, from the field `Location` of the answer; nil if
    /// the answer names none.
    static func made(by response: HTTPResponse) -> String? {
        guard let location = response.fields["location"] else { return nil }
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init)
        return id.flatMap { $0.utf8.count <= limit ? $0 : nil }
    }
}
