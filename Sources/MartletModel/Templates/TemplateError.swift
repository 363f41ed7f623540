/// Why a template cannot be used, and which part of it is at fault.
public struct TemplateError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Location: Hashable, Sendable {
        case name
        case body
        /// The value, or the first byte that does not fit, so many bytes from the body's beginning.
        case bodyAt(Int)
        case header(String)
        case option(String)
    }

    public let index: Location
    /// What is wrong, as the end of a sentence; shows no more than the beginning of an expression.
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
    /// The beginning of a text in quotes, fit for a message: short, and without control characters.
    var excerpt: String {
        let limit = 40
        let head = String.UnicodeScalarView(
            unicodeScalars.prefix(limit).map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 })
        return "'\(head)\(unicodeScalars.dropFirst(limit).isEmpty ? "" : "…")'"
    }
}
