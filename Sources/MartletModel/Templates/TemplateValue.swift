/// An expression in a template's body, found by the parser of the body's format.
struct TemplateValue: Hashable, Sendable {
    /// The range of the body that the value replaces. For a JSON string, the range excludes the quotes.
    let range: Range<Int>
    /// The expression, with the format's escapes decoded.
    let text: [UInt8]
    let target: TemplateTarget
}
