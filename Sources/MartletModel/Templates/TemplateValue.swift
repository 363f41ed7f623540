/// A position in a template's body where an expression is, found by the reader of the body's format.
struct TemplateValue: Hashable, Sendable {
    /// The bytes of the body that the expression's value replaces: for a JSON string without its quotes.
    let range: Range<Int>
    /// What is there, with the format's escapes undone.
    let text: [UInt8]
    let target: TemplateTarget
}
