public import MartletModel

/// The push platforms of this process: passed to the code that needs them, and named nowhere else.
public struct PushPlatformList: Sequence, Sendable {
    private let platforms: [any PushPlatform.Type]
    /// In the same order. Kept because reading a descriptor copies it, with many reference-counted strings.
    private let ids: [PlatformID]

    public init(_ platforms: [any PushPlatform.Type]) {
        self.platforms = platforms
        ids = platforms.map { $0.descriptor.platform }
    }

    public func makeIterator() -> IndexingIterator<[any PushPlatform.Type]> { platforms.makeIterator() }

    public subscript(id: PlatformID) -> (any PushPlatform.Type)? {
        ids.firstIndex(of: id).map { platforms[$0] }
    }

    /// The push service of a platform; nil if there is no such platform, or no service that sends to it.
    public func service(_ id: PlatformID) -> (any PushService.Type)? {
        self[id] as? any PushService.Type
    }

    /// The platform with a name or an alias, compared without case.
    public func named(_ name: String) -> (any PushPlatform.Type)? {
        let wanted = name.lowercased()
        return platforms.first { $0.descriptor.platform.rawValue == wanted || $0.descriptor.aliases.contains(wanted) }
    }

    /// The platform with a value of the send header, compared without case.
    public func format(_ format: String) -> (any PushPlatform.Type)? {
        let wanted = format.lowercased()
        return platforms.first { platform in
            let descriptor = platform.descriptor
            return descriptor.format.lowercased() == wanted
                || descriptor.formatAliases.contains { $0.lowercased() == wanted }
        }
    }
}
