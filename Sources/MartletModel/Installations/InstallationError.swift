/// The reason why a document is not a valid installation, or a patch cannot be applied to an installation.
public struct InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for the author of the document. It contains no channel, value or body.
    public let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
