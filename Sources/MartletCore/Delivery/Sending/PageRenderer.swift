/// Makes the messages of the members of a page, of which many have the same one.
protocol PageRenderer: Sendable {
    /// The number of different versions of the content that the members of a page get.
    func versionCount(of page: AudiencePage) -> Int

    /// The index of the version of each member.
    func versions(of page: AudiencePage) -> [UInt32]

    /// The index of the version of a member.
    func version(of index: Int, in page: AudiencePage) -> Int

    /// The message of a version.
    mutating func message(ofVersion version: Int, in page: AudiencePage) -> RenderedMessage
}

/// The message of some members of a page, or why they get none.
enum RenderedMessage: Sendable {
    case message(Message)
    /// Nothing is sent to these devices; other devices are not affected.
    case refused(Outcome)

    /// The approximate memory outside of the value itself, in bytes.
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
