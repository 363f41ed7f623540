extension Installation {
    /// The document as returned to clients. Absent values are omitted, but `platform` and `expirationTime` are always
    /// present. The tags of a template include the template's name.
    public var json: JSON {
        var members: [String: JSON] = [
            "installationId": .string(id), "platform": .string(platform.rawValue), "pushChannel": pushChannel.json,
            "pushChannelExpired": .bool(isPushChannelExpired),
            "expirationTime": .string((expirationTime ?? .distantFuture).iso8601),
        ]
        members["userId"] = userID.map(JSON.string)
        members["tags"] = tags.json
        members["pushVariables"] = pushVariables.json(JSON.string)
        members["templates"] = templates.json
        members["secondaryTiles"] = secondaryTiles.json { $0.json }
        return .object(members)
    }
}

extension InstallationTemplate {
    fileprivate func json(named name: String) -> JSON {
        var members: [String: JSON] = ["body": .string(body)]
        members["headers"] = headers.json(JSON.string)
        members["expiry"] = expiry.map(JSON.string)
        members["tags"] = tags(named: name).json
        return .object(members)
    }
}

extension SecondaryTile {
    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "pushChannel": pushChannel.json, "pushChannelExpired": .bool(isPushChannelExpired),
        ]
        members["tags"] = tags.json
        members["templates"] = templates.json
        return .object(members)
    }
}

extension [Tag] {
    fileprivate var json: JSON? { isEmpty ? nil : .array(map { .string($0.spelling) }) }
}

extension [String: InstallationTemplate] {
    fileprivate var json: JSON? {
        guard !isEmpty else { return nil }
        var members: [String: JSON] = [:]
        for (name, template) in self { members[name] = template.json(named: name) }
        return .object(members)
    }
}

extension [String: String] {
    fileprivate func json(_ value: (String) -> JSON) -> JSON? { isEmpty ? nil : .object(mapValues(value)) }
}

extension [String: SecondaryTile] {
    fileprivate func json(_ value: (SecondaryTile) -> JSON) -> JSON? { isEmpty ? nil : .object(mapValues(value)) }
}
