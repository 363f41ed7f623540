extension Migration {
    /// The migrations of the schema, in order. A released migration is never changed; new migrations are added at the
    /// end.
    static let all: [Migration] = [
        hubs, devices, notifications, users, jobs, payloads, receipts, sends, pagesAndRefusals, collapseKeys,
        versions, followedHandles, parts, operators, backendHub,
        authors, operatorFactors, campaigns, pageRecords, operatorIdentities,
        longNotifications,
    ]
}
