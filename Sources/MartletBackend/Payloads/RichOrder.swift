import MartletCore
import MartletCrypto
import MartletModel

/// The checked parameters of a rich notification, apart from its content.
struct RichOrder {
    let audience: SendAudience
    let message: String
    let type: String
    let mediaType: MediaType
    let lifetime: Duration

    private static let defaultLifetime = Duration.seconds(7 * 86_400)
    private static let typeLengthLimit = 32

    init(_ fields: RichFields, from sender: UserName) throws(BackendError) {
        audience = try SendAudience(users: fields.to, tags: fields.tags, from: sender)
        message = fields.message.flatMap { $0.isEmpty ? nil : $0 } ?? "From \(sender)"
        guard ShownText.isAllowed(message) else { throw .controlCharacters }
        guard let mediaType = fields.contentType.map({ MediaType($0) }) ?? .binary else {
            throw .badBody("The content type of the payload must be such as image/png.")
        }
        self.mediaType = mediaType
        type = fields.type ?? mediaType.word
        guard Self.isWord(type) else {
            throw .badBody("The \"type\" is a word of 1 to \(Self.typeLengthLimit) letters a to z, digits and hyphens.")
        }
        lifetime = fields.expiresIn.map { .seconds($0) } ?? Self.defaultLifetime
    }

    func draft(from sender: UserName, _ upload: PayloadUpload, at now: Timestamp) -> PayloadDraft {
        PayloadDraft(
            kind: .rich, sender: sender.folded, type: type, contentType: mediaType.text, message: message,
            content: .body(name: upload.name, size: upload.size), createdAt: now, expiresAt: now + lifetime)
    }

    /// Returns the whole content of the request, from which the request's digest is computed.
    /// - Parameter digest: The digest of the file or of the payload in JSON.
    func content(_ digest: [UInt8]) -> DigestInput {
        var content = audience.content
        for part in [message, type, mediaType.text, "\(lifetime)"] { content.append(part) }
        content.append(digest)
        return content
    }

    private static func isWord(_ text: String) -> Bool {
        (1...typeLengthLimit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}

/// The parameters of a rich notification as they were written in the request, unchecked.
struct RichFields {
    var to: [String]?
    var tags: String?
    var message: String?
    var type: String?
    var contentType: String?
    /// The lifetime in whole seconds.
    var expiresIn: Int64?

    init() {}

    init(_ body: RequestBody) throws(BackendError) {
        to = try body.optionalStrings("to")
        tags = try body.optionalString("tags")
        message = try body.optionalString("message")
        type = try body.optionalString("type")
        contentType = try body.optionalString("contentType")
        expiresIn = try body.lifetime()
    }

    /// Reads a field of a form; unknown fields are ignored.
    mutating func take(_ name: String, _ value: String) throws(BackendError) {
        switch name {
        case "to":
            to = (to ?? []) + value.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
            // The number of users is checked as each field arrives, because a form has room for millions of commas,
            // each of which adds a user.
            guard to?.count ?? 0 <= SendAudience.userLimit else { throw SendAudience.wrongCount }
        case "tags": try Self.set(&tags, name, value)
        case "message": try Self.set(&message, name, value)
        case "type": try Self.set(&type, name, value)
        case "expiresIn":
            guard expiresIn == nil, let seconds = Int64(value), PayloadLifetime.seconds.contains(seconds) else {
                throw PayloadLifetime.refusal
            }
            expiresIn = seconds
        default: break
        }
    }

    private static func set(_ field: inout String?, _ name: String, _ value: String) throws(BackendError) {
        guard field == nil else { throw .badForm("The form has the field \"\(name)\" twice.") }
        field = value
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
