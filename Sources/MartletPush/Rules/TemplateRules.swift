/// What the templates of several platforms have in common.
enum TemplateRules {
    /// Whether the value of a header or option is only known when the template is filled in.
    static func isExpression(_ text: String) -> Bool { text.contains("(") || text.contains("{") }
}
