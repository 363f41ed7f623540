/// The reason why a document is not a valid installation, or why a patch cannot be applied to an installation.
public struct InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for the author of the document. It contains no channel, and neither values nor template bodies from
    /// the document.
    public let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
