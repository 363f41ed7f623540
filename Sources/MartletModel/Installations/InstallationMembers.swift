/// Reads the members of an object in an installation's document. The errors name the object that they concern.
struct InstallationMembers {
    /// The name of the object at the beginning of a sentence: "The installation", "The template 'news'".
    let owner: String
    private let members: [String: JSON]
    private let byLowercase: [String: JSON]

    init(_ json: JSON, of owner: String) throws(InstallationError) {
        guard let members = json.object else { throw InstallationError("\(owner) is no JSON object.") }
        self.owner = owner
        self.members = members
        // If names differ only in case, the first of them in sort order is used. Without sorting, the choice would be
        // random, because a dictionary has no fixed order.
        byLowercase = Dictionary(
            members.sorted { $0.key < $1.key }.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The member with a name. An exact match is preferred to a match that ignores case. Nil if the member is missing
    /// or `null`.
    subscript(name: String) -> JSON? {
        let found = members[name] ?? byLowercase[name.lowercased()]
        return found == .null ? nil : found
    }

    func text(_ name: String) throws(InstallationError) -> String? {
        guard let json = self[name] else { return nil }
        guard let text = json.string else { throw wrong(name, "a text") }
        return text
    }

    /// Returns the user id in a member; nil if the member is missing or empty.
    func userID(_ name: String) throws(InstallationError) -> String? {
        let text = try text(name)
        return text?.isEmpty == true ? nil : text
    }

    /// Returns the date in a member; nil if the member is missing or empty, or if the date is `Timestamp.distantFuture`
    /// or later, which means no expiry.
    func timestamp(_ name: String) throws(InstallationError) -> Timestamp? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        return try Self.timestamp(text, called: name)
    }

    static func timestamp(_ text: String, called name: String) throws(InstallationError) -> Timestamp? {
        guard let timestamp = Timestamp(iso8601: text) else {
            throw InstallationError("The \(name) is no date and time such as 2026-01-31T23:59:59Z.")
        }
        return timestamp < .distantFuture ? timestamp : nil
    }

    func channel() throws(InstallationError) -> InstallationChannel {
        guard let json = self["pushChannel"] else { throw InstallationError("\(owner) has no pushChannel.") }
        return try InstallationChannel(json, of: owner)
    }

    func tags(_ name: String) throws(InstallationError) -> [Tag] {
        guard let json = self[name] else { return [] }
        return try Self.tags(json, of: owner)
    }

    static func tags(_ json: JSON, of owner: String) throws(InstallationError) -> [Tag] {
        guard let elements = json.array else {
            throw InstallationError("The tags of \(owner.uncapitalized) are no array.")
        }
        var tags: [Tag] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else {
                throw InstallationError("Tag \(index + 1) of \(owner.uncapitalized) is no text.")
            }
            do throws(TagError) {
                tags.append(try Tag(text))
            } catch {
                throw InstallationError("Tag \(index + 1) of \(owner.uncapitalized) is not valid: \(error)")
            }
        }
        return tags.unique
    }

    /// Returns the texts in a member, which must be an object. The texts are keyed by name. The result is empty if the
    /// member is missing. Numbers and Booleans are converted to text, because a client may write them without quotes.
    func texts(_ name: String) throws(InstallationError) -> [String: String] {
        guard let json = self[name] else { return [:] }
        return try Self.texts(json, name, of: owner)
    }

    static func texts(_ json: JSON, _ name: String, of owner: String) throws(InstallationError) -> [String: String] {
        guard let members = json.object else {
            throw InstallationError("The \(name) of \(owner.uncapitalized) are no JSON object.")
        }
        var texts: [String: String] = [:]
        for (key, value) in members where value != .null {
            guard let text = value.plainText else {
                throw InstallationError("One of the \(name) of \(owner.uncapitalized) is no text.")
            }
            texts[key] = text
        }
        return texts
    }

    func templates(_ name: String) throws(InstallationError) -> [String: InstallationTemplate] {
        guard let json = self[name] else { return [:] }
        return try Self.templates(json, of: owner)
    }

    static func templates(
        _ json: JSON, of owner: String
    ) throws(InstallationError) -> [String: InstallationTemplate] {
        guard let members = json.object else {
            throw InstallationError("The templates of \(owner.uncapitalized) are no JSON object.")
        }
        var templates: [String: InstallationTemplate] = [:]
        for (name, value) in members where value != .null {
            templates[name] = try InstallationTemplate(value, named: name)
        }
        return templates
    }

    func secondaryTiles(_ name: String) throws(InstallationError) -> [String: SecondaryTile] {
        guard let json = self[name] else { return [:] }
        return try Self.secondaryTiles(json, of: owner)
    }

    static func secondaryTiles(_ json: JSON, of owner: String) throws(InstallationError) -> [String: SecondaryTile] {
        guard let members = json.object else {
            throw InstallationError("The secondaryTiles of \(owner.uncapitalized) are no JSON object.")
        }
        var tiles: [String: SecondaryTile] = [:]
        for (id, value) in members where value != .null { tiles[id] = try SecondaryTile(value, named: id) }
        return tiles
    }

    private func wrong(_ name: String, _ kind: String) -> InstallationError {
        InstallationError("The \(name) of \(owner.uncapitalized) is not \(kind).")
    }
}

extension JSON {
    /// A text, or a number or Boolean converted to JSON text; nil for other values.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer, .double, .bool: text
        case .null, .array, .object: nil
        }
    }
}
