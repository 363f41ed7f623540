/// An additional tile of an app, with its own channel. Its id is its key in `Installation.secondaryTiles`.
public struct SecondaryTile: Hashable, Sendable {
    public var pushChannel: InstallationChannel
    /// True if the push service has reported the channel as gone. Ignored in documents from clients.
    public var isPushChannelExpired: Bool
    /// The tags in addition to the installation's tags.
    public var tags: [Tag]
    /// The templates by name.
    public var templates: [String: InstallationTemplate]

    public init(
        pushChannel: InstallationChannel, isPushChannelExpired: Bool = false, tags: [Tag] = [],
        templates: [String: InstallationTemplate] = [:]
    ) {
        self.pushChannel = pushChannel
        self.isPushChannelExpired = isPushChannelExpired
        self.tags = tags
        self.templates = templates
    }
}
