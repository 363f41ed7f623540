/// The reason why a template cannot be rendered for a notification. Only devices with this template are affected; all
/// other devices still receive the notification.
public enum TemplateRenderingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The template contains `#(property)`, but the property is missing or is not a number.
    case notANumber(property: String)
    /// The header or option of this name would contain a line break, a NUL or another control character.
    case controlCharacter(name: String)
    /// Body, headers and options together are larger than the limit, in bytes.
    case tooLarge(limit: Int)

    public var description: String {
        switch self {
        case .notANumber(let property):
            "The template needs a number in the property '\(property)', such as 0, 12 or 1.5e3."
        case .controlCharacter(let name):
            "The template's \(name.excerpt) would contain a line break or another control character."
        case .tooLarge(let limit): "The template makes a notification of more than \(limit) bytes."
        }
    }
}
