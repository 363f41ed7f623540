/// An expression in a template's body, found by the parser of the body's format.
struct TemplateValue: Hashable, Sendable {
    /// The bytes of the body that the value replaces; for a JSON string, without its quotes.
    let range: Range<Int>
    /// The expression, with the format's escapes decoded.
    let text: [UInt8]
    let target: TemplateTarget
}
