public import MartletModel

/// A composed message as it was sent, with what is needed of it again and again.
public final class ComposedContent: Sendable {
    /// The body as it was sent.
    public let body: [UInt8]
    public let message: ComposedMessage
    public let languages: MessageLanguages
    /// The variables that its texts use, in lower case.
    public let variables: Set<String>

    /// - Parameter body: The JSON form of the message.
    public init(_ body: [UInt8]) throws(ComposedMessageError) {
        self.body = body
        message = try ComposedMessage(parsing: body)
        languages = message.languages
        variables = message.usedVariables
    }

    /// Whether a device's variables can change its texts.
    public var usesVariables: Bool { !variables.isEmpty }

    /// Whether the devices of a page get different messages.
    public var hasVariants: Bool { languages.count > 1 || usesVariables }

    /// The name of a language, for people; nil if the message says none.
    func languageName(_ index: Int) -> String? {
        languages.tags.indices.contains(index) ? languages.tags[index].spelling : nil
    }

    /// What the sender has said about one platform.
    func part(of platform: PlatformID) -> ComposedMessage.PlatformPart? { message.platforms[platform.rawValue] }

    /// Whether the sender has left out a platform.
    public func omits(_ platform: PlatformID) -> Bool { part(of: platform) == .omitted }
}
