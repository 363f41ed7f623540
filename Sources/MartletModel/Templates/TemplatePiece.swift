/// A part of a template's body, in the order in which it is sent.
enum TemplatePiece: Hashable, Sendable {
    /// Constant bytes.
    case literal([UInt8])
    case value(TemplateExpression, TemplateTarget)
}
