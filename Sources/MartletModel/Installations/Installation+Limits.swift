extension Installation {
    /// The maximum size of an installation's document in bytes, for both received and written documents.
    public static let sizeLimit = 131_072
    /// The maximum nesting depth of arrays and objects.
    static let depthLimit = 16
    /// The maximum number of templates, including the templates of secondary tiles. Each template is a registration.
    public static let templateLimit = 60
    public static let secondaryTileLimit = 20
    public static let pushVariableLimit = 60
    /// The maximum length of the name of a template, secondary tile or push variable, in characters.
    static let nameLimit = Template.nameLimit
    /// The maximum length of a push variable's value, in bytes.
    public static let pushVariableSizeLimit = 4096

    /// Checks the installation against every limit.
    /// - Parameter isComplete: Whether the installation has all its parts (see `InstallationPart`). If it does not,
    ///   tags are not counted, because its templates may still have the installation's tags in addition to their own.
    /// - Throws: `InstallationError` that names the violated limit, or says that the id is invalid.
    public func checkLimits(isComplete: Bool = true) throws(InstallationError) {
        _ = try systemTags
        if isComplete { try checkTagCounts() }
        try Self.require(pushVariables.count, atMost: Self.pushVariableLimit, "push variables", of: "An installation")
        try Self.check(variables: pushVariables)
        try Self.require(
            secondaryTiles.count, atMost: Self.secondaryTileLimit, "secondary tiles", of: "An installation")
        let templateCount = secondaryTiles.values.reduce(templates.count) { $0 + $1.templates.count }
        try Self.require(templateCount, atMost: Self.templateLimit, "templates", of: "An installation")
        try Self.check(templates)
        for (id, tile) in secondaryTiles {
            try Self.check(name: id, "secondary tile")
            try Self.check(tile.templates)
        }
        guard json.bytes.count <= Self.sizeLimit else {
            throw InstallationError("The installation is larger than \(Self.sizeLimit) bytes.")
        }
    }

    private func checkTagCounts() throws(InstallationError) {
        try Self.require(tags.count, atMost: Tag.countLimit, "tags", of: "An installation")
        for template in templates.values {
            try Self.require(template.tags.count, atMost: Tag.countLimit, "tags", of: "A template")
        }
        for tile in secondaryTiles.values {
            try Self.require(tile.tags.count, atMost: Tag.countLimit, "tags", of: "A secondary tile")
            for template in tile.templates.values {
                try Self.require(template.tags.count, atMost: Tag.countLimit, "tags", of: "A template")
            }
        }
    }

    private static func check(_ templates: [String: InstallationTemplate]) throws(InstallationError) {
        for (name, template) in templates {
            try check(name: name, "template")
            try require(template.headers.count, atMost: Template.fieldLimit, "headers", of: "A template")
        }
    }

    private static func check(variables: [String: String]) throws(InstallationError) {
        for (name, value) in variables {
            try check(name: name, "push variable")
            guard value.utf8.count <= pushVariableSizeLimit else {
                throw InstallationError("The push variable '\(name)' is larger than \(pushVariableSizeLimit) bytes.")
            }
        }
    }

    private static func check(name: String, _ what: String) throws(InstallationError) {
        guard (1...nameLimit).contains(name.unicodeScalars.count) else {
            throw InstallationError("The name of a \(what) has 1 to \(nameLimit) characters.")
        }
    }

    private static func require(
        _ count: Int, atMost limit: Int, _ what: String, of owner: String
    ) throws(InstallationError) {
        guard count <= limit else { throw InstallationError("\(owner) has at most \(limit) \(what).") }
    }
}
