public import MartletModel

/// The push services of this process: handed to whoever needs them, named by nobody.
public struct PushServiceList: Sendable {
    public let services: [any PushService.Type]

    public init(_ services: [any PushService.Type]) {
        self.services = services
    }

    public subscript(platform: PlatformID) -> (any PushService.Type)? {
        services.first { $0.descriptor.platform == platform }
    }

    /// By the platform's name or one of its aliases, without case.
    public func named(_ name: String) -> (any PushService.Type)? {
        let wanted = name.lowercased()
        return services.first { $0.descriptor.platform.rawValue == wanted || $0.descriptor.aliases.contains(wanted) }
    }

    /// By the value of the send header, without case.
    public func format(_ format: String) -> (any PushService.Type)? {
        services.first { $0.descriptor.format.lowercased() == format.lowercased() }
    }
}
