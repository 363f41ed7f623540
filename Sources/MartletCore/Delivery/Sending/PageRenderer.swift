/// Renders the messages for the members of a page. The content has one or more versions, and each member gets the
/// message of one version. Many members can share a version.
protocol PageRenderer: Sendable {
    /// Returns the number of different versions that the members of a page get.
    func versionCount(of page: AudiencePage) -> Int

    /// Returns the version of each member, in the order of the page.
    func versions(of page: AudiencePage) -> [UInt32]

    /// Returns the version of the member at an index of the page, as a number from 0 to `versionCount` - 1.
    func version(of index: Int, in page: AudiencePage) -> Int

    /// Returns the message for the members that get a version, or the outcome if there is no message for them.
    mutating func message(ofVersion version: Int, in page: AudiencePage) -> RenderedMessage
}

/// The message for some members of a page, or the outcome if these members get no message.
enum RenderedMessage: Sendable {
    case message(Message)
    /// The members get no message, and their pushes get the given outcome. Other members of the page are not affected.
    case refused(Outcome)

    /// The approximate memory of the message or of the outcome's reason, in bytes.
    var memoryBytes: Int {
        switch self {
        case .message(let message): message.memoryBytes
        case .refused(let outcome): outcome.reason.utf8.count + 64
        }
    }
}

extension TemplateRenderer: PageRenderer {
    func versionCount(of page: AudiencePage) -> Int { page.renderings.count }

    func versions(of page: AudiencePage) -> [UInt32] { page.bindingIndices }

    func version(of index: Int, in page: AudiencePage) -> Int { Int(page.bindingIndices[index]) }

    mutating func message(ofVersion version: Int, in page: AudiencePage) -> RenderedMessage {
        message(for: page.renderings[version])
    }
}

extension ComposedRenderer: PageRenderer {
    func versionCount(of page: AudiencePage) -> Int { page.variants.count }

    func versions(of page: AudiencePage) -> [UInt32] { page.variantIndices }

    func version(of index: Int, in page: AudiencePage) -> Int { Int(page.variantIndices[index]) }

    mutating func message(ofVersion version: Int, in page: AudiencePage) -> RenderedMessage {
        message(for: page.variants[version])
    }
}
