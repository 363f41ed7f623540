extension ComposedMessage {
    /// Parses the member `platforms`. Names of platforms and contents of payloads are not checked here, because only
    /// the server knows the platforms: see `ComposedCheck` in MartletCore.
    static func platforms(_ members: MessageMembers) throws(ComposedMessageError) -> [String: PlatformPart] {
        guard let member = members["platforms"] else { return [:] }
        guard let object = member.object else { throw .bad("platforms", "an object of platforms by name") }
        var platforms: [String: PlatformPart] = [:]
        for (name, value) in object.sorted(by: { $0.key < $1.key }) {
            platforms[name] = try part(value, "platforms.\(name.prefix(64))")
        }
        return platforms
    }

    private static func part(_ value: JSON, _ path: String) throws(ComposedMessageError) -> PlatformPart {
        if value == false { return .omitted }
        guard let object = value.object else {
            throw .bad(path, "false, or an object with merge, or with payload and headers")
        }
        let members = MessageMembers(object, at: path + ".")
        try members.refuseOthers(than: ["merge", "payload", "headers"])
        let patch = try members.value("merge", "a JSON object") { $0.object }
        let payload = try members.value("payload", "a text or a JSON object, and not empty", payload)
        switch (patch, payload) {
        case (let patch?, nil):
            guard members["headers"] == nil else {
                throw ComposedMessageError("The message's \(path).headers go with a payload only.")
            }
            return .merged(patch)
        case (nil, let payload?): return .payload(payload, headers: try headers(members, path))
        default: throw .bad(path, "false, or an object with merge, or with payload and headers")
        }
    }

    private static func payload(_ member: JSON) -> [UInt8]? {
        switch member {
        case .string(let text): text.isEmpty ? nil : Array(text.utf8)
        case .object: member.bytes
        default: nil
        }
    }

    /// Parses the header fields of a payload, and makes their names lower case.
    private static func headers(
        _ members: MessageMembers, _ path: String
    ) throws(ComposedMessageError) -> [String: String] {
        let rule = "an object of at most \(Limit.headers) header fields in printable ASCII"
        let object = try members.value("headers", rule) { member in
            member.object.flatMap { $0.count <= Limit.headers ? $0 : nil }
        }
        var headers: [String: String] = [:]
        for (name, value) in (object ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard (1...Limit.key).contains(name.utf8.count), name.utf8.allSatisfy(\.isOfFieldName) else {
                throw ComposedMessageError(
                    "The message's \(path).headers have the name '\(name.prefix(64))', which is none for an HTTP header."
                )
            }
            guard let text = value.string, text.utf8.count <= Limit.headerBytes,
                text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
                headers.updateValue(text, forKey: name.lowercased()) == nil
            else { throw .bad("\(path).headers", rule) }
        }
        return headers
    }
}
