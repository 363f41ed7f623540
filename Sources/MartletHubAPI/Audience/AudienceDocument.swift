public import MartletCore
public import MartletModel

/// The number of channels and registrations that a send reaches, as JSON, for the hub's API and the admin API.
public struct AudienceDocument: Sendable {
    private let count: AudienceCount

    public init(_ count: AudienceCount) {
        self.count = count
    }

    public var json: JSON {
        let parts = count.platforms.map { platform, part in (platform.rawValue, Self.json(part)) }
        return [
            "registrations": .integer(Int64(count.registrations)), "devices": .integer(Int64(count.devices)),
            "isOfOneMoment": .bool(count.isConsistent),
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
