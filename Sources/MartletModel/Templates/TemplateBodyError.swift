/// The reason why a template's body is not valid in its format, and the offset of the error in bytes.
struct TemplateBodyError: Error {
    let offset: Int
    /// The error, worded as the end of a sentence that begins with "The template's body", such as "is not valid JSON:
    /// …".
    let reason: String
}
