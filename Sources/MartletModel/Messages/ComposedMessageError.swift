/// The reason why a JSON text is not a valid composed message. The description is a sentence for the sender.
public struct ComposedMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// True if the message is not invalid but too large. The answer is then 413 instead of 400.
    public let isTooLarge: Bool
    public let description: String

    init(_ description: String, isTooLarge: Bool = false) {
        self.isTooLarge = isTooLarge
        self.description = description
    }

    /// Returns the error for a member that breaks a rule.
    /// - Parameters:
    ///   - member: The path of the member, such as `actions[0].link`.
    ///   - rule: The end of the error's sentence, after "must be".
    static func bad(_ member: String, _ rule: String) -> ComposedMessageError {
        ComposedMessageError("The message's \(member) must be \(rule).")
    }

    /// Returns the error for a member with an unknown name, in the message or in an object of the message.
    /// - Parameter part: The path of the object that has the member; empty for the message itself.
    static func unknown(_ name: String, in part: String = "") -> ComposedMessageError {
        ComposedMessageError(
            "The message has the unknown member '\(part.isEmpty ? "" : part + ".")\(name.prefix(64))'.")
    }
}
