/// The reason why a template's body is not valid in its format, and where.
struct TemplateBodyError: Error {
    let offset: Int
    /// The end of a sentence about the body.
    let reason: String
}
