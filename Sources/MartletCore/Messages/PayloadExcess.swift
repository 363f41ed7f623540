public import MartletModel

/// A payload of a composed message that exceeds the limit of its platform.
public struct PayloadExcess: Hashable, Sendable, CustomStringConvertible {
    public let platform: PlatformID
    /// The language of the payload; nil if the message states none.
    public let language: String?
    /// The size of the payload in bytes.
    public let size: Int
    /// The maximum size in bytes.
    public let limit: Int
    /// Whether the sender allows the text to be truncated. The payload does not fit then even without its text.
    public let isTruncated: Bool

    public init(platform: PlatformID, language: String?, size: Int, limit: Int, isTruncated: Bool) {
        self.platform = platform
        self.language = language
        self.size = size
        self.limit = limit
        self.isTruncated = isTruncated
    }

    /// A sentence about the payload for the sender.
    public var description: String {
        let name = language.map { " in \($0)" } ?? ""
        let (size, limit) = (ComposedMessage.grouped(size), ComposedMessage.grouped(limit))
        let advice =
            isTruncated
            ? "it does not fit even without its text, so shorten data, links and actions."
            : "shorten the text, or send with \"truncate\": true."
        return "For \(platform)\(name) the payload has \(size) bytes and may have \(limit): \(advice)"
    }
}
