/// The reason why a template is invalid, and the part that is invalid.
public struct TemplateError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Location: Hashable, Sendable {
        case name
        case body
        /// The body, at the offset of the invalid expression or of the first invalid byte.
        case bodyAt(Int)
        case header(String)
        case option(String)
    }

    public let index: Location
    /// The error, worded as the end of a sentence that begins with the location. If the text quotes an expression, it
    /// quotes only the beginning.
    public let reason: String

    public var description: String {
        switch index {
        case .name: "The template's name \(reason)."
        case .body: "The template's body \(reason)."
        case .bodyAt(let offset): "The template's body, at byte \(offset), \(reason)."
        case .header(let name): "The template's header \(name.excerpt) \(reason)."
        case .option(let name): "The template's \(name.excerpt) \(reason)."
        }
    }
}

extension String {
    /// The beginning of a text in quotes, safe for an error message: short and without control characters.
    var excerpt: String {
        let limit = 40
        let head = String.UnicodeScalarView(
            unicodeScalars.prefix(limit).map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 })
        return "'\(head)\(unicodeScalars.dropFirst(limit).isEmpty ? "" : "…")'"
    }
}
