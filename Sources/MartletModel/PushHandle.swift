/// The address of one app on one device at a push service: a token, a channel URI or a browser's subscription.
///
/// The handles of most platforms have one part; a browser's subscription has three parts. The description does not show
/// the handle, because anyone who knows it can send to the device.
public struct PushHandle: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The parts, in the order of the platform's descriptor.
    public var parts: [String]

    public init(_ parts: String...) {
        self.parts = parts
    }

    public init(parts: [String]) {
        self.parts = parts
    }

    /// The parts as one text, separated by line feeds, which cannot occur in a part. This is the form in which handles
    /// are stored and compared.
    public var text: String { parts.count == 1 ? parts[0] : parts.joined(separator: Self.separator) }

    /// Creates a handle from a text that the property `text` has returned.
    public init(text: String) {
        var text = text
        // This is a fast path, because almost all handles have one part. It searches the bytes, because searching the
        // characters is slower.
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
