/// One step of the schema. A released step is never changed; a later change of the schema is a new step.
struct Migration: Sendable {
    /// A unique name, which is recorded in the table `migrations`, together with the step's position in `all`.
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
        moves,
        clusters,
        userBacklogs,
        removedClusters,
        packs,
    ]
}
