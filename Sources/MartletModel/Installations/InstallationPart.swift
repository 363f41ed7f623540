/// One registration of an installation, as a line of an export has it. The parts of an installation may come in any
/// order, and more than once: see `Installation.merge(_:)`.
public struct InstallationPart: Hashable, Sendable {
    /// The id of the installation.
    public var installation: String
    public var userID: String?
    public var platform: PlatformID
    public var pushChannel: InstallationChannel
    /// nil: never.
    public var expirationTime: Timestamp?
    /// All tags of the registration but the system tags of installations: those of the installation, the secondary
    /// tile, the template and its name.
    public var tags: [Tag]
    public var pushVariables: [String: String]
    /// The name of its template; nil for the registration without one.
    public var templateName: String?
    /// Without tags.
    public var template: InstallationTemplate?
    /// The id of its secondary tile.
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
    /// The installation of which this part alone is known.
    /// - Throws: `InstallationError` for a part that passes a limit.
    public init(_ part: InstallationPart) throws(InstallationError) {
        self.init(id: part.installation, platform: part.platform, pushChannel: part.pushChannel)
        try merge(part)
    }

    /// Adds or replaces what one of its registrations says.
    ///
    /// A registration with a template carries the tags of its installation as well. Which are the template's own is
    /// known once the registration without a template is there: until then a template may have tags that it will lose.
    /// - Throws: `InstallationError` for a part of another platform, or one with which a limit would be passed.
    public mutating func merge(_ part: InstallationPart) throws(InstallationError) {
        guard part.platform == platform else {
            throw InstallationError(
                "The installation is of the platform '\(platform)', this part of '\(part.platform)'.")
        }
        userID = part.userID
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
    /// Removes tags that the templates have from elsewhere, and each template's own name.
    fileprivate mutating func removeTags(_ inherited: Set<Tag>) {
        for name in keys {
            let own = try? Tag(name)
            self[name]?.tags.removeAll { $0 == own || inherited.contains($0) }
        }
    }
}
