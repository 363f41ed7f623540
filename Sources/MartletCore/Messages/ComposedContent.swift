public import MartletModel

/// A composed message as it was sent, with values that are computed from it once and used by every page of a delivery.
public final class ComposedContent: Sendable {
    /// The JSON form of the message, as the sender sent it.
    public let body: [UInt8]
    public let message: ComposedMessage
    public let languages: MessageLanguages
    /// The names of the variables that the texts of the message contain, in lower case.
    public let variables: Set<String>

    /// - Parameter body: The JSON form of the message.
    public init(_ body: [UInt8]) throws(ComposedMessageError) {
        self.body = body
        message = try ComposedMessage(parsing: body)
        languages = message.languages
        variables = message.usedVariables
    }

    /// Whether the texts depend on the variables of a device.
    public var usesVariables: Bool { !variables.isEmpty }

    /// Whether devices of the same platform may get different messages.
    public var hasVariants: Bool { languages.count > 1 || usesVariables }

    /// Returns the language tag at an index of `languages.tags`, as the sender spelled it; nil if the message states no
    /// language.
    func languageName(_ index: Int) -> String? {
        languages.tags.indices.contains(index) ? languages.tags[index].spelling : nil
    }

    /// Returns the sender's override for a platform; nil if there is none.
    func part(of platform: PlatformID) -> ComposedMessage.PlatformPart? { message.platforms[platform.rawValue] }

    /// Returns whether the sender excludes a platform.
    public func omits(_ platform: PlatformID) -> Bool { part(of: platform) == .omitted }
}
