/// The position and reason of a mismatch between a body and its format.
struct TemplateBodyError: Error {
    let offset: Int
    /// The end of a sentence about the body.
    let reason: String
}
