extension Installation {
    /// Parses an installation's document as written by a client.
    ///
    /// Ignores unknown members and members that only the server may set; a `null` member is treated as missing. The
    /// case of member names is ignored.
    /// - Parameters:
    ///   - bytes: JSON in UTF-8, at most `sizeLimit` bytes.
    ///   - id: The id in the URL, which overrides the id in the document; nil to use the id in the document.
    ///   - isComplete: Whether the installation has all parts; see `checkLimits(isComplete:)`.
    /// - Throws: `InstallationError` with a sentence for the author of the document.
    public init(parsing bytes: [UInt8], id: String? = nil, isComplete: Bool = true) throws(InstallationError) {
        guard bytes.count <= Self.sizeLimit else {
            throw InstallationError("The installation is larger than \(Self.sizeLimit) bytes.")
        }
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes, maximumDepth: Self.depthLimit)
        } catch {
            throw InstallationError(error.description)
        }
        try self.init(InstallationMembers(json, of: "The installation"), id: id)
        try checkLimits(isComplete: isComplete)
    }

    private init(_ members: InstallationMembers, id: String?) throws(InstallationError) {
        var ownID = id
        if ownID == nil { ownID = try members.text("installationId") }
        guard let id = ownID else { throw InstallationError("The installation has no installationId.") }
        guard let platform = try members.text("platform"), !platform.isEmpty else {
            throw InstallationError("The installation has no platform.")
        }
        self.init(
            id: id, userID: try members.userID("userId"), platform: PlatformID(rawValue: platform),
            pushChannel: try members.channel(), expirationTime: try members.timestamp("expirationTime"),
            tags: try members.tags("tags"), pushVariables: try members.texts("pushVariables"),
            templates: try members.templates("templates"),
            secondaryTiles: try members.secondaryTiles("secondaryTiles"))
    }
}

extension InstallationTemplate {
    init(_ json: JSON, named name: String) throws(InstallationError) {
        let members = try InstallationMembers(json, of: "The template '\(name.prefix(64))'")
        guard let body = try members.text("body"), !body.isEmpty else {
            throw InstallationError("\(members.owner) has no body.")
        }
        self.init(
            body: body, headers: try members.texts("headers"), expiry: try members.text("expiry"),
            tags: try members.tags("tags"))
    }
}

extension SecondaryTile {
    init(_ json: JSON, named id: String) throws(InstallationError) {
        let members = try InstallationMembers(json, of: "The secondary tile '\(id.prefix(64))'")
        self.init(
            pushChannel: try members.channel(), tags: try members.tags("tags"),
            templates: try members.templates("templates"))
    }
}
