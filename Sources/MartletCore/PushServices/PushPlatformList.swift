public import MartletModel

/// The push platforms of this process: passed to the code that needs them, named nowhere else.
public struct PushPlatformList: Sequence, Sendable {
    private let platforms: [any PushPlatform.Type]
    /// In the same order: a descriptor has many texts, which are counted references, and asking for one copies it.
    private let ids: [PlatformID]

    public init(_ platforms: [any PushPlatform.Type]) {
        self.platforms = platforms
        ids = platforms.map { $0.descriptor.platform }
    }

    public func makeIterator() -> IndexingIterator<[any PushPlatform.Type]> { platforms.makeIterator() }

    public subscript(id: PlatformID) -> (any PushPlatform.Type)? {
        ids.firstIndex(of: id).map { platforms[$0] }
    }

    /// What sends to a platform; nil where there is no such platform, or nothing that sends to it.
    public func service(_ id: PlatformID) -> (any PushService.Type)? {
        self[id] as? any PushService.Type
    }

    /// By the platform's name or one of its aliases, without case.
    public func named(_ name: String) -> (any PushPlatform.Type)? {
        let wanted = name.lowercased()
        return platforms.first { $0.descriptor.platform.rawValue == wanted || $0.descriptor.aliases.contains(wanted) }
    }

    /// By the value of the send header, without case.
    public func format(_ format: String) -> (any PushPlatform.Type)? {
        let wanted = format.lowercased()
        return platforms.first { platform in
            let descriptor = platform.descriptor
            return descriptor.format.lowercased() == wanted
                || descriptor.formatAliases.contains { $0.lowercased() == wanted }
        }
    }
}
