/// A further tile of an app, with a channel of its own; its id is the key under which the installation has it.
public struct SecondaryTile: Hashable, Sendable {
    public var pushChannel: InstallationChannel
    /// Whether the push service has said that the channel is dead; not read from what clients send.
    public var isPushChannelExpired: Bool
    /// Besides those of the installation.
    public var tags: [Tag]
    /// By their names.
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
