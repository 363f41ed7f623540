public import MartletModel

/// The push platforms of this process. Code that needs a platform gets this list, so that no other code names
/// platforms.
public struct PushPlatformList: Sequence, Sendable {
    private let platforms: [any PushPlatform.Type]
    /// The ids of the platforms, in the order of the list. They are stored because reading a descriptor copies it,
    /// including many reference-counted strings.
    private let ids: [PlatformID]

    public init(_ platforms: [any PushPlatform.Type]) {
        self.platforms = platforms
        ids = platforms.map { $0.descriptor.platform }
    }

    public func makeIterator() -> IndexingIterator<[any PushPlatform.Type]> { platforms.makeIterator() }

    public subscript(id: PlatformID) -> (any PushPlatform.Type)? {
        ids.firstIndex(of: id).map { platforms[$0] }
    }

    /// Returns the push service of a platform; nil if the platform does not exist, or if no service sends to it.
    public func service(_ id: PlatformID) -> (any PushService.Type)? {
        self[id] as? any PushService.Type
    }

    /// The names and the aliases of all platforms, sorted.
    public var names: [String] {
        platforms.flatMap { [$0.descriptor.platform.rawValue] + $0.descriptor.aliases }.sorted()
    }

    /// Returns the platform with a name or an alias, compared without case; nil if there is none.
    public func named(_ name: String) -> (any PushPlatform.Type)? {
        let wanted = name.lowercased()
        return platforms.first { $0.descriptor.platform.rawValue == wanted || $0.descriptor.aliases.contains(wanted) }
    }

    /// Returns the platform for a value of the header `ServiceBusNotification-Format`, compared without case; nil if
    /// there is none.
    public func format(_ format: String) -> (any PushPlatform.Type)? {
        let wanted = format.lowercased()
        return platforms.first { platform in
            let descriptor = platform.descriptor
            return descriptor.format.lowercased() == wanted
                || descriptor.formatAliases.contains { $0.lowercased() == wanted }
        }
    }
}
