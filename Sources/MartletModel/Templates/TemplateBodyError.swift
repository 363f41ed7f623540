/// The reason why a template's body is not valid in its format, and where.
struct TemplateBodyError: Error {
    let offset: Int
    /// What is wrong, worded to follow "The template's body", such as "is not valid JSON: …".
    let reason: String
}
