/// One registration of an installation, as one line of an export contains it. The parts of an installation may be
/// imported in any order and more than once: see `Installation.merge(_:)`.
public struct InstallationPart: Hashable, Sendable {
    /// The id of the installation.
    public var installation: String
    public var userID: String?
    public var platform: PlatformID
    public var pushChannel: InstallationChannel
    /// The time when the installation expires; nil for never.
    public var expirationTime: Timestamp?
    /// All tags of the registration without its system tags (`$InstallationId:{ID}`, `$UserId:{USER}`). They include
    /// the tags of the installation, of the secondary tile and of the template, and the template's name.
    public var tags: [Tag]
    public var pushVariables: [String: String]
    /// The name of the template; nil for the registration without a template.
    public var templateName: String?
    /// The template, with an empty list of tags; nil for the registration without a template.
    public var template: InstallationTemplate?
    /// The id of the secondary tile, if any.
    public var secondaryTile: String?

    public init(
        installation: String, userID: String? = nil, platform: PlatformID, pushChannel: InstallationChannel,
        expirationTime: Timestamp? = nil, tags: [Tag] = [], pushVariables: [String: String] = [:],
        secondaryTile: String? = nil
    ) {
        self.installation = installation
        self.userID = userID
        self.platform = platform
        self.pushChannel = pushChannel
        self.expirationTime = expirationTime
        self.tags = tags
        self.pushVariables = pushVariables
        self.secondaryTile = secondaryTile
    }
}

extension Installation {
    /// Creates an installation from one part.
    /// - Throws: `InstallationError` if the part exceeds a limit.
    public init(_ part: InstallationPart) throws(InstallationError) {
        self.init(id: part.installation, platform: part.platform, pushChannel: part.pushChannel)
        try merge(part)
    }

    /// Adds or replaces the data of one registration.
    ///
    /// The tags of a part with a template include the installation's tags. The tags of the part without a template are
    /// exactly the installation's tags. As soon as the part without a template is merged, the installation's tags are
    /// removed from the templates. Until then the templates keep these tags.
    /// - Throws: `InstallationError` if the part is of another platform or exceeds a limit.
    public mutating func merge(_ part: InstallationPart) throws(InstallationError) {
        guard part.platform == platform else {
            throw InstallationError(
                "The installation is of the platform '\(platform)', this part of '\(part.platform)'.")
        }
        // A line of an export names the user by the tag `$UserId:{USER}`. If the user's id cannot be part of a tag, no
        // line can name the user. So the user is kept although the part names none.
        if part.userID != nil || hasTagOfUser { userID = part.userID }
        expirationTime = part.expirationTime
        pushVariables = part.pushVariables
        var template = part.template
        template?.tags = part.tags
        if let id = part.secondaryTile {
            var tile = secondaryTiles[id] ?? SecondaryTile(pushChannel: part.pushChannel)
            tile.pushChannel = part.pushChannel
            if let name = part.templateName { tile.templates[name] = template } else { tile.tags = part.tags }
            secondaryTiles[id] = tile
        } else {
            pushChannel = part.pushChannel
            if let name = part.templateName { templates[name] = template } else { tags = part.tags }
        }
        removeInheritedTags()
        try checkLimits(isComplete: false)
    }

    private mutating func removeInheritedTags() {
        let inherited = Set(tags)
        templates.removeTags(inherited)
        for (id, tile) in secondaryTiles {
            var tile = tile
            tile.tags.removeAll(where: inherited.contains)
            tile.templates.removeTags(inherited.union(tile.tags))
            secondaryTiles[id] = tile
        }
    }
}

extension [String: InstallationTemplate] {
    /// Removes inherited tags and the template's own name from the tags of each template.
    fileprivate mutating func removeTags(_ inherited: Set<Tag>) {
        for name in keys {
            let own = try? Tag(name)
            self[name]?.tags.removeAll { $0 == own || inherited.contains($0) }
        }
    }
}
