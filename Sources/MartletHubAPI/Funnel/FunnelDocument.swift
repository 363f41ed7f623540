public import MartletCore
public import MartletModel

/// The funnel of a notification, as JSON, for the hub's API and the admin API. A number that is not known is null.
public enum FunnelDocument {
    public static func json(_ funnel: Funnel) -> JSON {
        var members = steps(funnel.total)
        members["notification"] = .string(funnel.id.description)
        members["state"] = .string(funnel.state.rawValue)
        members["platforms"] = .object(
            Dictionary(uniqueKeysWithValues: funnel.platforms.map { ($0.key.rawValue, .object(steps($0.value))) }))
        return .object(members)
    }

    private static func steps(_ steps: Funnel.Steps) -> [String: JSON] {
        [
            "targeted": count(steps.targeted), "rendered": count(steps.rendered), "accepted": count(steps.accepted),
            "received": count(steps.received), "opened": count(steps.opened),
        ]
    }

    private static func count(_ number: Int?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }
}
