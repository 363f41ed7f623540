/// A piece of a template's body. The rendered body consists of the rendered pieces in order.
enum TemplatePiece: Hashable, Sendable {
    /// Bytes that are the same in every rendering.
    case literal([UInt8])
    case value(TemplateExpression, TemplateTarget)
}
