/// The address of one app on one device at a push service: a token, a channel URI, a browser's subscription.
///
/// The handles of most platforms have one part; a browser's subscription has three. The description does not show the
/// handle, because anyone who knows it can send to the device.
public struct PushHandle: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The parts, in the order of the platform's descriptor.
    public var parts: [String]

    public init(_ parts: String...) {
        self.parts = parts
    }

    public init(parts: [String]) {
        self.parts = parts
    }

    /// The parts as one text, separated by line feeds, which cannot occur in a part. Handles are stored and compared in
    /// this form.
    public var text: String { parts.count == 1 ? parts[0] : parts.joined(separator: Self.separator) }

    /// Parses the result of `text`.
    public init(text: String) {
        var text = text
        // Almost all handles have one part, and searching bytes for a line feed is faster than searching characters.
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
