/// The name of a container, as in Azure Blob Storage: 3 to 63 lower-case letters, digits and hyphens. A hyphen is
/// neither first nor last, and never follows another hyphen.
public struct ContainerName: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Creates a name from a text, after checking it.
    /// - Returns: nil if the name is not allowed.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (3...63).contains(bytes.count), bytes.first != Self.hyphen, bytes.last != Self.hyphen,
            bytes.allSatisfy(Self.isAllowed), !text.contains("--")
        else { return nil }
        self.text = text
    }

    /// Creates a name without checking it.
    /// - Parameter text: A valid name.
    init(known text: StaticString) {
        self.text = "\(text)"
    }

    /// The rule for valid names, as a sentence for users.
    public static let rule = "A container's name has 3 to 63 lower-case letters, digits and single hyphens within."

    public var description: String { text }

    private static let hyphen = UInt8(ascii: "-")

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), hyphen: true
        default: false
        }
    }
}
