/// The address of an installation at its push service. It is kept in the form in which the client wrote it, because
/// some clients cannot parse any other form (NotificationHubs.md, section 16, trap 29).
///
/// The description does not show the address, because anyone who knows it can send to the device.
public enum InstallationChannel: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A handle as text. If the platform's handles have several parts, the text is a JSON object with the parts.
    case text(String)
    /// The parts of a handle by name.
    case object([String: JSON])

    /// The maximum size of a channel, in bytes of text or JSON.
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

    /// The parts of the handle, keyed by name; nil if the channel is neither an object nor the text of a JSON object.
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
    /// Returns the text with a lower-case first letter, for the middle of a sentence: "The template" becomes "the
    /// template".
    var uncapitalized: String { prefix(1).lowercased() + dropFirst() }
}
