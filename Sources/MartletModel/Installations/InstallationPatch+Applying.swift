extension InstallationPatch {
    /// Returns the installation with all changes applied. If one change is invalid, the whole patch is refused.
    /// - Throws: `InstallationError` with a sentence for the author of the patch.
    public func apply(to installation: Installation) throws(InstallationError) -> Installation {
        var changed = installation
        for step in steps { try step.apply(to: &changed) }
        try changed.checkLimits()
        return changed
    }
}

extension InstallationPatch.Step {
    /// The name of the changed object, such as "The installation". An error's sentence begins with this name.
    private typealias Owner = String

    fileprivate func apply(to installation: inout Installation) throws(InstallationError) {
        let owner = "The installation"
        switch part(0) {
        case "pushchannel": try set(&installation.pushChannel, at: 1, of: owner)
        case "userid" where path.count == 1: installation.userID = try userID()
        case "expirationtime" where path.count == 1: installation.expirationTime = try timestamp()
        case "tags": try edit(&installation.tags, at: 1, of: owner)
        case "pushvariables": try edit(&installation.pushVariables, "pushVariables", at: 1, of: owner)
        case "templates": try edit(&installation.templates, at: 1, of: owner)
        case "secondarytiles": try edit(&installation.secondaryTiles, of: owner)
        default: throw unknownPath
        }
    }

    private func edit(
        _ tiles: inout [String: SecondaryTile], of owner: Owner
    ) throws(InstallationError) {
        guard path.count > 1 else {
            tiles = operation == .remove ? [:] : try InstallationMembers.secondaryTiles(try structure(), of: owner)
            return
        }
        let id = path[1]
        guard path.count > 2 else {
            tiles[id] = operation == .remove ? nil : try SecondaryTile(try structure(), named: id)
            return
        }
        guard var tile = tiles[id] else {
            throw InstallationError("The installation has no secondary tile '\(id.prefix(64))' to change.")
        }
        let tileOwner = "The secondary tile '\(id.prefix(64))'"
        switch part(2) {
        case "pushchannel": try set(&tile.pushChannel, at: 3, of: tileOwner)
        case "tags": try edit(&tile.tags, at: 3, of: tileOwner)
        case "templates": try edit(&tile.templates, at: 3, of: tileOwner)
        default: throw unknownPath
        }
        tiles[id] = tile
    }

    private func edit(
        _ templates: inout [String: InstallationTemplate], at depth: Int, of owner: Owner
    ) throws(InstallationError) {
        guard path.count > depth else {
            templates = operation == .remove ? [:] : try InstallationMembers.templates(try structure(), of: owner)
            return
        }
        let name = path[depth]
        guard path.count > depth + 1 else {
            templates[name] = operation == .remove ? nil : try InstallationTemplate(try structure(), named: name)
            return
        }
        guard var template = templates[name] else {
            throw InstallationError("\(owner) has no template '\(name.prefix(64))' to change.")
        }
        let templateOwner = "The template '\(name.prefix(64))'"
        switch part(depth + 1) {
        case "body" where path.count == depth + 2: template.body = try body(of: templateOwner)
        case "expiry" where path.count == depth + 2: template.expiry = operation == .remove ? nil : try text()
        case "headers": try edit(&template.headers, "headers", at: depth + 2, of: templateOwner)
        case "tags": try edit(&template.tags, at: depth + 2, of: templateOwner)
        default: throw unknownPath
        }
        templates[name] = template
    }

    /// Edits a list of tags. If the path is `/tags` and the value is a text but not a list, the value is a single tag,
    /// as the Java client writes it (NotificationHubs.md, section 5.3). If the path is `/tags/{tag}`, the value usually
    /// repeats the tag. If the value is a different tag, that tag is added, and `replace` also removes the tag in the
    /// path. `-` in the path means the end of the list.
    private func edit(_ tags: inout [Tag], at depth: Int, of owner: Owner) throws(InstallationError) {
        guard path.count <= depth + 1 else { throw unknownPath }
        let named = path.count > depth ? path[depth] : nil
        switch (operation, named) {
        case (.remove, nil):
            let removed = try tagList(of: owner)
            tags = value == .null ? [] : tags.filter { !removed.contains($0) }
        case (.remove, let name?):
            let removed = try tag(name)
            tags.removeAll { $0 == removed }
        case (.replace, nil) where valueIsList: tags = try tagList(of: owner)
        case (_, nil):
            guard value != .null else { throw valueMissing }
            tags = (tags + (try tagList(of: owner))).unique
        case (_, let name?):
            let added = try value == .null ? tag(name) : tag(try text())
            if operation == .replace, let replaced = try? Tag(name), replaced != added {
                tags.removeAll { $0 == replaced }
            }
            tags = (tags + [added]).unique
        }
    }

    private func edit(
        _ texts: inout [String: String], _ what: String, at depth: Int, of owner: Owner
    ) throws(InstallationError) {
        guard path.count <= depth + 1 else { throw unknownPath }
        if path.count == depth {
            texts = operation == .remove ? [:] : try InstallationMembers.texts(try structure(), what, of: owner)
        } else {
            texts[path[depth]] = operation == .remove ? nil : try text()
        }
    }

    private func set(
        _ channel: inout InstallationChannel, at depth: Int, of owner: Owner
    ) throws(InstallationError) {
        guard path.count == depth else { throw unknownPath }
        guard operation != .remove else { throw notRemovable }
        guard value != .null else { throw valueMissing }
        channel = try InstallationChannel(value, of: owner)
    }

    private func userID() throws(InstallationError) -> String? {
        guard operation != .remove, value != .null else { return nil }
        let text = try text()
        return text.isEmpty ? nil : text
    }

    private func timestamp() throws(InstallationError) -> Timestamp? {
        guard operation != .remove else { throw notRemovable }
        return try InstallationMembers.timestamp(try text(), called: "expirationTime")
    }

    private func body(of owner: Owner) throws(InstallationError) -> String {
        guard operation != .remove else { throw notRemovable }
        let body = try text()
        guard !body.isEmpty else { throw InstallationError("\(owner) has no body.") }
        return body
    }

    // The functions below read the value of the step.

    private func text() throws(InstallationError) -> String {
        guard value != .null else { throw valueMissing }
        guard let text = value.plainText else { throw InstallationError("The value for '\(index)' is no text.") }
        return text
    }

    /// Returns the step's value, an object or array. The .NET and Java clients write such a value as a text that
    /// contains the JSON (NotificationHubs.md, section 5.3).
    private func structure() throws(InstallationError) -> JSON {
        guard value != .null else { throw valueMissing }
        guard case .string(let text) = value else { return value }
        do throws(JSONError) {
            return try JSON(parsing: Array(text.utf8), maximumDepth: Installation.depthLimit)
        } catch {
            throw InstallationError("The value for '\(index)' is a text that holds no JSON. \(error)")
        }
    }

    private func tagList(of owner: Owner) throws(InstallationError) -> [Tag] {
        guard value != .null else { return [] }
        guard valueIsList else { return [try tag(try text())] }
        return try InstallationMembers.tags(try structure(), of: owner)
    }

    /// True if the value is a list, or a text that contains a list. A text that begins with a bracket is a list,
    /// because no tag begins with a bracket.
    private var valueIsList: Bool {
        switch value {
        case .array: true
        case .string(let text): text.utf8.first == UInt8(ascii: "[")
        default: false
        }
    }

    private func tag(_ text: String) throws(InstallationError) -> Tag {
        do throws(TagError) {
            return try Tag(text)
        } catch {
            throw InstallationError("The tag for '\(index)' is not valid: \(error)")
        }
    }

    // The functions and properties below read the path of the step.

    private func part(_ depth: Int) -> String { path[depth].lowercased() }
    private var index: String { path.map { "/\($0.prefix(64))" }.joined() }
    private var unknownPath: InstallationError { InstallationPatch.unknownPath(path) }
    private var notRemovable: InstallationError { InstallationError("A patch cannot remove '\(index)'.") }
    private var valueMissing: InstallationError {
        InstallationError("The operation on '\(index)' has no value.")
    }
}
