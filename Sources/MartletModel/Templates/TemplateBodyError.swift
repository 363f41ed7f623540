/// Where and why a body does not match its format.
struct TemplateBodyError: Error {
    let offset: Int
    /// The end of a sentence about the body.
    let reason: String
}
