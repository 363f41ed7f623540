/// Why one template gives nothing to send for one notification. It concerns the devices with that template; the
/// notification goes on for the others.
public enum TemplateRenderingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `#(property)` where the property is missing or holds no number.
    case notANumber(property: String)
    /// A line break, a NUL or another control character would get into the header or option of this name.
    case controlCharacter(name: String)
    /// Body, headers and options together are larger than this many bytes.
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
