/// The address of an installation at its push service, in the form that the client wrote: some clients cannot read any
/// other form (NotificationHubs.md, section 16, trap 29).
///
/// Its description does not show it, because anyone who knows the address can send to it.
public enum InstallationChannel: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A handle as text; for platforms with several parts, a JSON object of the parts, as text.
    case text(String)
    /// The parts of a handle by name.
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

    /// The parts by name, in either form; nil for a channel that is a single text.
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
    /// Returns the text for the middle of a sentence: "The template" as "the template".
    var uncapitalized: String { prefix(1).lowercased() + dropFirst() }
}
