public import MartletModel

extension InstallationChannel {
    /// Returns the channel as a handle of a platform.
    ///
    /// A handle with several parts can be written in three forms: as an object whose member names are the names of the
    /// platform's elements, in any case; as a text that contains such an object; or as one text with the parts
    /// separated by hyphens, such as the user id and channel id of Baidu.
    /// - Throws: `DeviceRegistryError.invalid` if a part is missing.
    func handle(on platform: PushPlatformDescriptor) throws(DeviceRegistryError) -> PushHandle {
        let names = platform.registration.handleElements
        if names.count == 1, case .text(let text) = self { return PushHandle(text) }
        if let parts = joinedParts(names.count) { return PushHandle(parts: parts) }
        let members = parts ?? [:]
        var found: [String] = []
        for name in names {
            let member = members.first { $0.key.lowercased() == name.lowercased() }?.value.string ?? ""
            guard !member.isEmpty, !member.utf8.contains(0x0A) else {
                throw .invalid("The pushChannel of the platform '\(platform.platform)' has no \(name.lowercased()).")
            }
            found.append(member)
        }
        return PushHandle(parts: found)
    }

    /// Creates the channel of a handle. The channel is an object if the handle has several parts, otherwise a text.
    public init(_ handle: PushHandle, on platform: PushPlatformDescriptor) {
        let names = platform.registration.handleElements.map { $0.lowercased() }
        guard names.count > 1 else {
            self = .text(handle.text)
            return
        }
        self = .object(Dictionary(uniqueKeysWithValues: zip(names, handle.parts.map(JSON.string))))
    }

    /// Returns the channel of another handle, in the same written form as this channel.
    func replaced(with handle: PushHandle, on platform: PushPlatformDescriptor) -> InstallationChannel {
        guard platform.registration.handleElements.count > 1, var members = parts else {
            return .text(handle.parts.joined(separator: "-"))
        }
        for (name, part) in zip(platform.registration.handleElements, handle.parts) {
            let key = members.keys.first { $0.lowercased() == name.lowercased() } ?? name.lowercased()
            members[key] = .string(part)
        }
        if case .text = self { return .text(JSON.object(members).text) }
        return .object(members)
    }

    private func joinedParts(_ count: Int) -> [String]? {
        guard count > 1, case .text(let text) = self, parts == nil else { return nil }
        let split = text.split(separator: "-").map(String.init)
        return split.count == count ? split : nil
    }
}
