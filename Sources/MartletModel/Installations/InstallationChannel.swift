/// The address of an installation at its push service, in the form in which the client wrote it: some clients can read
/// back no other (NotificationHubs.md, section 16, trap 29).
///
/// It is a capability, so its description does not show it.
public enum InstallationChannel: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A handle; where the platform's has several parts, a JSON object of them as text.
    case text(String)
    /// The parts of a handle by their names.
    case object([String: JSON])

    /// The largest channel, in bytes of text or of JSON.
    public static let sizeLimit = 8192

    init(_ json: JSON, of owner: String) throws(InstallationError) {
        switch json {
        case .string(let text) where !text.isEmpty: self = .text(text)
        case .object(let members): self = .object(members)
        case .string: throw InstallationError("\(owner) has an empty pushChannel.")
        default: throw InstallationError("The pushChannel of \(owner.uncapitalized) is neither a text nor an object.")
        }
        guard size <= Self.sizeLimit else {
            throw InstallationError(
                "The pushChannel of \(owner.uncapitalized) is larger than \(Self.sizeLimit) bytes.")
        }
    }

    public var json: JSON {
        switch self {
        case .text(let text): .string(text)
        case .object(let members): .object(members)
        }
    }

    /// The parts by their names, in whichever form they were written; nil for a channel that is one text.
    public var parts: [String: JSON]? {
        switch self {
        case .object(let members): members
        case .text(let text):
            text.utf8.first == UInt8(ascii: "{") ? try? JSON(parsing: Array(text.utf8), maximumDepth: 4).object : nil
        }
    }

    private var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .object: json.bytes.count
        }
    }

    public var description: String { "channel of \(size) bytes" }
    public var debugDescription: String { description }
}

extension String {
    /// For the middle of a sentence: "The template" as "the template".
    var uncapitalized: String { prefix(1).lowercased() + dropFirst() }
}
