/// Rules that the templates of several platforms share.
enum TemplateRules {
    /// Returns whether the value of a header or option may be an expression.
    ///
    /// The result of an expression is known only after the template has been rendered.
    static func isExpression(_ text: String) -> Bool { text.contains("(") || text.contains("{") }
}
