extension ComposedMessage {
    /// The JSON form of the message. Parsing this form gives an equal message.
    public var json: JSON {
        var members: [String: JSON] = [:]
        members["title"] = title?.json
        members["subtitle"] = subtitle?.json
        members["text"] = text?.json
        members["language"] = language.map(JSON.string)
        if !variables.isEmpty { members["variables"] = .object(variables.mapValues(JSON.string)) }
        members["link"] = link.map(JSON.string)
        members["picture"] = picture.map(JSON.string)
        members["sound"] = sound?.json
        members["badge"] = badge?.json
        if !data.isEmpty { members["data"] = .object(data.mapValues(JSON.string)) }
        if !actions.isEmpty { members["actions"] = .array(actions.map(\.json)) }
        members["priority"] = priority.map { .string($0.rawValue) }
        members["thread"] = thread.map(JSON.string)
        members["collapse"] = collapse.map(JSON.string)
        if isSilent { members["silent"] = true }
        if isTruncated { members["truncate"] = true }
        if !platforms.isEmpty { members["platforms"] = .object(platforms.mapValues(\.json)) }
        return .object(members)
    }
}

extension ComposedMessage.Sound {
    /// The value of the member `sound`.
    public var json: JSON {
        switch self {
        case .default: "default"
        case .none: "none"
        case .named(let name): .string(name)
        }
    }
}

extension ComposedMessage.Badge {
    public var json: JSON {
        switch self {
        case .number(let number): .integer(Int64(number))
        case .increment: "+1"
        }
    }
}

extension ComposedMessage.Action {
    fileprivate var json: JSON {
        var members: [String: JSON] = ["id": .string(id), "title": title.json]
        members["link"] = link.map(JSON.string)
        return .object(members)
    }
}

extension ComposedMessage.PlatformPart {
    fileprivate var json: JSON {
        switch self {
        case .omitted: return false
        case .merged(let patch): return ["merge": .object(patch)]
        case .payload(let body, let headers):
            var members: [String: JSON] = ["payload": .string(String(decoding: body, as: UTF8.self))]
            if !headers.isEmpty { members["headers"] = .object(headers.mapValues(JSON.string)) }
            return .object(members)
        }
    }
}
