/// Why a document is no installation, or a patch cannot be applied to one.
public struct InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for the author of the document; it shows no channel, no value and no body.
    public let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
