/// Why a text is not a composed message.
public struct ComposedMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the text is too large, and not wrong.
    public let isTooLarge: Bool
    public let description: String

    init(_ description: String, isTooLarge: Bool = false) {
        self.isTooLarge = isTooLarge
        self.description = description
    }

    /// - Parameters:
    ///   - member: The path of the member, such as `actions[0].link`.
    ///   - rule: What goes after "must be".
    static func bad(_ member: String, _ rule: String) -> ComposedMessageError {
        ComposedMessageError("The message's \(member) must be \(rule).")
    }

    /// A member of the message, or of a part of it, that there is not.
    static func unknown(_ name: String, in part: String = "") -> ComposedMessageError {
        ComposedMessageError(
            "The message has a member '\(part.isEmpty ? "" : part + ".")\(name.prefix(64))', which it cannot have.")
    }
}
