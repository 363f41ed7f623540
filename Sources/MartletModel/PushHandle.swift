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
    public var text: String { parts.joined(separator: "\n") }

    /// Reads what `text` wrote.
    public init(text: String) {
        parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    public var description: String { "handle of \(text.utf8.count) bytes" }
    public var debugDescription: String { description }
}
