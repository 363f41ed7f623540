/// One step of the schema. A step that was published never changes: a change is another step.
struct Migration: Sendable {
    /// Identifies the step in the table `migrations`; its number is its place in `all`.
    let name: String
    let script: String

    static let all = [
        ordinals,
        hubs,
        devices,
        users,
        notifications,
        deliveries,
        operators,
        payloads,
        jobs,
        campaigns,
        containers,
        nodes,
    ]
}
