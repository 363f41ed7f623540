public import MartletCore
public import MartletModel

/// The number of channels and registrations that a send reaches, as JSON, for the hub's API and the admin API.
public struct AudienceDocument: Sendable {
    private let count: AudienceCount

    public init(_ count: AudienceCount) {
        self.count = count
    }

    public var json: JSON {
        let platforms = count.platforms.map { platform, counts in (platform.rawValue, Self.json(counts)) }
        return [
            "registrations": .integer(Int64(count.registrations)), "devices": .integer(Int64(count.devices)),
            "isOfOneMoment": .bool(count.isConsistent),
            "platforms": .object(Dictionary(uniqueKeysWithValues: platforms)),
        ]
    }

    private static func json(_ counts: AudienceCount.PlatformCounts) -> JSON {
        [
            "registrations": .integer(Int64(counts.registrations)), "devices": .integer(Int64(counts.devices)),
            "native": .integer(Int64(counts.native)), "templates": .integer(Int64(counts.templates)),
        ]
    }
}
