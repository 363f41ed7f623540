import MartletCore

extension StorageConformance {
    /// The share that a user of the app backend has of the backlog of a hub.
    static let backlogs: [Requirement] = [
        Requirement("A user who has a share of the backlog of a hub adds nothing to it, and others do") { bench in
            let (hub, other) = (try await bench.hub(), try await bench.hub("other"))
            // With this limit, the share of a user is two notifications.
            let limits = BacklogLimits(notifications: 5, standard: 5)
            func draft(_ author: SendAuthor?, dueIn seconds: Int64? = nil, in hub: Hub.ID) -> NotificationDraft {
                var draft = bench.notificationDraft(hub, dueIn: seconds)
                draft.author = author
                draft.backlogLimits = limits
                return draft
            }
            func excess(
                _ author: SendAuthor?, dueIn seconds: Int64? = nil, in hub: Hub.ID
            ) async throws -> BacklogExcess? {
                switch try await bench.storage.accept(draft(author, dueIn: seconds, in: hub)) {
                case .backlogged(let excess): return excess
                case .accepted: return nil
                case .repeated, .conflicting: throw ConformanceFailure(description: "a new send was taken for another")
                }
            }
            let (mallory, bob) = (SendAuthor.user("mallory"), SendAuthor.user("bob"))
            let first = try await bench.accepted(draft(mallory, in: hub))
            let scheduled = try await bench.accepted(draft(mallory, dueIn: 9, in: hub))
            try require(try await excess(mallory, in: hub), is: .user)
            try require(try await excess(.user("Mallory"), dueIn: 9, in: hub), is: .user)
            try require(try await excess(mallory, in: other), is: nil)
            try require(try await excess(bob, in: hub), is: nil)
            try require(try await excess(.key("mallory"), in: hub), is: nil)
            try require(try await excess(nil, in: hub), is: nil)
            try require(try await excess(bob, in: hub), is: .hub)
            try require(try await excess(mallory, in: hub), is: .user)

            // What has ended, was canceled, or has another author now, is given back.
            for delivery in first.deliveries {
                try await bench.storage.record(
                    DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now))
            }
            try require(try await excess(mallory, in: hub), is: nil)
            try require(try await excess(mallory, in: hub), is: .user)
            try require(
                try await bench.storage.cancel(scheduled.notification.id, in: hub, at: bench.now), is: .canceled)
            let again = try await bench.accepted(draft(mallory, dueIn: 9, in: hub))
            try require(try await excess(mallory, in: hub), is: .user)
            var replacement = draft(.key("Orders"), dueIn: 9, in: hub)
            replacement.id = again.notification.id
            try require(try await bench.storage.replace(replacement), is: .replaced(.running))
            try require(try await excess(mallory, in: hub), is: .hub)
        },
        Requirement("The share of a user is limited in bytes too") { bench in
            let hub = try await bench.hub()
            let limits = BacklogLimits(notifications: 300, standard: 300)
            func accept(_ author: SendAuthor, bytes: Int) async throws -> Acceptance {
                let content = Notification.Content.native(
                    bench.platform, Message(body: [UInt8](repeating: 1, count: bytes)))
                var draft = bench.notificationDraft(hub, content)
                draft.author = author
                draft.backlogLimits = limits
                return try await bench.storage.accept(draft)
            }
            // The share is half of the 1,228,800 bytes of the hub.
            guard case .accepted = try await accept(.user("mallory"), bytes: 614_300),
                case .backlogged(.user) = try await accept(.user("mallory"), bytes: 101),
                case .accepted = try await accept(.user("bob"), bytes: 101),
                case .accepted = try await accept(.user("mallory"), bytes: 100)
            else { throw ConformanceFailure(description: "the bytes of a user were counted wrongly") }
        },
    ]
}
