extension Migration {
    /// The schema's steps, in order. A step that has been released is never changed; new ones are added at the end.
    static let all: [Migration] = [
        hubs, devices, notifications, users, jobs, payloads, receipts, sends, pagesAndRefusals, collapseKeys,
        versions, followedHandles,
    ]
}
