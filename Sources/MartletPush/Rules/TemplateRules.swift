/// Rules that the templates of several platforms share.
enum TemplateRules {
    /// Returns whether the value of a header or option is an expression.
    ///
    /// The value is then known only when the template is rendered.
    static func isExpression(_ text: String) -> Bool { text.contains("(") || text.contains("{") }
}
