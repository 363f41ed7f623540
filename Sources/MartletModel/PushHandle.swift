/// The address of one app on one device at a push service: a token, a channel URI, a browser's subscription.
///
/// Most platforms have one part; a browser's subscription has three. A handle is a capability, so its description does
/// not show it.
public struct PushHandle: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The parts in the order that the platform's descriptor names them.
    public var parts: [String]

    public init(_ parts: String...) {
        self.parts = parts
    }

    public init(parts: [String]) {
        self.parts = parts
    }

    /// The parts as one text, which is how a handle is stored and compared: a line feed cannot occur in any of them.
    public var text: String { parts.count == 1 ? parts[0] : parts.joined(separator: Self.separator) }

    /// Reads what `text` wrote.
    public init(text: String) {
        var text = text
        // Next to all have one part, and a line feed is quicker looked for among bytes than among characters.
        guard text.withUTF8({ $0.contains(UInt8(ascii: "\n")) }) else {
            parts = [text]
            return
        }
        parts = text.split(separator: Self.separator, omittingEmptySubsequences: false).map(String.init)
    }

    private static let separator = "\n"

    public var description: String { "handle of \(text.utf8.count) bytes" }
    public var debugDescription: String { description }
}
