/// Rules that the templates of several platforms share.
enum TemplateRules {
    /// Whether the value of a header or option is an expression, so that it is known only when the template is
    /// rendered.
    static func isExpression(_ text: String) -> Bool { text.contains("(") || text.contains("{") }
}
