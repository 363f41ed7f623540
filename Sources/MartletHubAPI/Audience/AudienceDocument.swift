public import MartletCore
public import MartletModel

/// Whom a send reaches, in numbers, as JSON: for the hub's API and for administration alike.
public struct AudienceDocument: Sendable {
    private let count: AudienceCount
    private let platforms: PushPlatformList

    public init(_ count: AudienceCount, platforms: PushPlatformList) {
        self.count = count
        self.platforms = platforms
    }

    public var json: JSON {
        let parts = count.platforms.map { platform, part in
            (platforms.format(of: platform), Self.json(part))
        }
        return [
            "registrations": .integer(Int64(count.registrations)), "devices": .integer(Int64(count.devices)),
            "isOfOneMoment": .bool(count.isOfOneMoment),
            "platforms": .object(Dictionary(uniqueKeysWithValues: parts)),
        ]
    }

    private static func json(_ part: AudienceCount.Part) -> JSON {
        [
            "registrations": .integer(Int64(part.registrations)), "devices": .integer(Int64(part.devices)),
            "native": .integer(Int64(part.native)), "templates": .integer(Int64(part.templates)),
        ]
    }
}

extension PushPlatformList {
    /// The word for a platform in `ServiceBusNotification-Format`.
    func format(of platform: PlatformID) -> String { self[platform]?.descriptor.format ?? platform.rawValue }
}
