/// A piece of a template's body. The pieces are sent in order.
enum TemplatePiece: Hashable, Sendable {
    /// Constant bytes.
    case literal([UInt8])
    case value(TemplateExpression, TemplateTarget)
}
