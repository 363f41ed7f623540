/// A further tile of an app, with its own channel; its id is its key in the installation.
public struct SecondaryTile: Hashable, Sendable {
    public var pushChannel: InstallationChannel
    /// True if the push service has reported the channel as gone. Ignored in documents from clients.
    public var isPushChannelExpired: Bool
    /// Tags in addition to those of the installation.
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
