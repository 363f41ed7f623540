import MartletCore
import MartletModel

extension StorageConformance {
    static let control: [Requirement] = [
        Requirement("A wish holds for every delivery of a notification, and is known of it") { bench in
            let (hub, notification, deliveries) = try await bench.acceptedTwice()
            let change = try await bench.storage.control(.pause, notification.id, in: hub, at: bench.now)
            try require(
                change, is: .done(.paused, sequence: notification.sequence, open: deliveries.map(\.id)))
            let status = try require(try await bench.storage.status(notification.id, in: hub))
            try require(status.control, is: .paused)
            try require(status.controlledAt, is: bench.now)
            let known = ControlledNotification(notification: notification.sequence, hub: hub, control: .paused)
            try require(try await bench.storage.controlled(), is: [known])
            try require(try await bench.unfinished(), is: deliveries.map(\.id))
        },
        Requirement("A repeated wish changes nothing, not even the time") { bench in
            let (hub, notification, _) = try await bench.acceptedTwice()
            for (index, wish) in [ControlRequest.pause, .pause, .halt].enumerated() {
                let timestamp = bench.now + .seconds(Int64(index))
                _ = try await bench.storage.control(wish, notification.id, in: hub, at: timestamp)
            }
            let status = try require(try await bench.storage.status(notification.id, in: hub))
            try require(status.control, is: .paused)
            try require(status.controlledAt, is: bench.now)
        },
        Requirement("A resumed notification runs as if it had not been paused") { bench in
            let (hub, notification, deliveries) = try await bench.acceptedTwice()
            _ = try await bench.storage.control(.halt, notification.id, in: hub, at: bench.now)
            let change = try await bench.storage.control(.resume, notification.id, in: hub, at: bench.now)
            try require(
                change, is: .done(.running, sequence: notification.sequence, open: deliveries.map(\.id)))
            try require(try await bench.storage.controlled().count, is: 0)
        },
        Requirement("A canceled notification ends with its last delivery, in the state Canceled") { bench in
            let (hub, notification, deliveries) = try await bench.acceptedTwice()
            _ = try await bench.storage.control(.cancel, notification.id, in: hub, at: bench.now)
            try require(try await bench.storage.report(notification.id, in: hub)?.state, is: .enqueued)
            for (index, delivery) in deliveries.enumerated() {
                try require(try await bench.storage.hasEnded(notification.sequence), is: false)
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: delivery.id, isFannedOut: true, state: index == 0 ? .completed : .canceled,
                        endedAt: bench.now, counts: [.canceled: 2]))
            }
            try require(try await bench.storage.hasEnded(notification.sequence), is: true)
            try require(try await bench.storage.controlled().count, is: 0)
            try require(try await bench.storage.report(notification.id, in: hub)?.state, is: .canceled)
            try require(
                try await bench.storage.control(.cancel, notification.id, in: hub, at: bench.now),
                is: .done(.canceled, sequence: notification.sequence, open: []))
            try require(
                try await bench.storage.control(.resume, notification.id, in: hub, at: bench.now), is: .ended)
        },
        Requirement("An ended notification, or one of another hub, cannot be controlled") { bench in
            let (hub, notification, deliveries) = try await bench.acceptedTwice()
            let other = try await bench.hub("other")
            for delivery in deliveries {
                try await bench.storage.record(
                    DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now))
            }
            for wish in [ControlRequest.pause, .resume, .cancel, .halt] {
                try require(
                    try await bench.storage.control(wish, notification.id, in: hub, at: bench.now), is: .ended)
                try require(
                    try await bench.storage.control(wish, notification.id, in: other, at: bench.now), is: .notFound)
            }
            try require(try await bench.storage.status(notification.id, in: other) == nil, is: true)
        },
        Requirement("A scheduled notification ends when it is canceled, and stays paused at its time") {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let (canceled, _) = try await bench.accepted(bench.notificationDraft(hub, dueIn: 60))
            let (paused, _) = try await bench.accepted(bench.notificationDraft(hub, dueIn: 60))
            _ = try await bench.storage.control(.cancel, canceled.id, in: hub, at: bench.now)
            _ = try await bench.storage.control(.pause, paused.id, in: hub, at: bench.now)
            let report = try require(try await bench.storage.report(canceled.id, in: hub))
            try require(report.state, is: .canceled)
            try require(report.endedAt, is: bench.now)
            try require(try await bench.storage.hasEnded(canceled.sequence), is: true)
            let released = try await bench.storage.release(due: bench.now + .seconds(60), limit: 10)
            try require(released.deliveries.map(\.notification.sequence), is: [])
            try require(try await bench.storage.controlled().map(\.notification), is: [paused.sequence])
        },
        Requirement("A status counts retries separately from suspended pushes") { bench in
            let (hub, notification, deliveries) = try await bench.acceptedTwice()
            var held = bench.retry(1, dueIn: 0, attempts: 0)
            held.outcome = .held
            try await bench.storage.record(
                DeliveryStep(
                    delivery: deliveries[0].id, isFannedOut: true, state: .processing, startedAt: bench.now,
                    counts: [.success: 3, .badChannel: 1],
                    retries: [held, bench.retry(2, dueIn: 60), bench.retry(3, dueIn: 60)]))
            let status = try require(try await bench.storage.status(notification.id, in: hub))
            try require(status.deliveries.map(\.report.platform), is: deliveries.map(\.platform))
            try require(status.deliveries.map(\.held), is: [1, 0])
            try require(status.deliveries.map(\.retrying), is: [2, 0])
            try require(status.deliveries.map(\.isFannedOut), is: [true, false])
            try require(status.deliveries[0].report.counts, is: [.success: 3, .badChannel: 1])
        },
        Requirement("A roll-out comes back as it was, and what it counts begins anew with each resumption") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            for rollout in [
                Rollout(.rate(500)), Rollout(.over(.seconds(90)), halt: Rollout.Halt(share: 550, answers: 20)),
            ] {
                var draft = bench.notificationDraft(hub)
                draft.rollout = rollout
                let (notification, deliveries) = try await bench.accepted(draft)
                try require(notification.rollout, is: rollout)
                let stored = try await bench.storage.unfinished(
                    after: Delivery.ID(rawValue: deliveries[0].id.rawValue - 1), limit: 1)
                try require(stored.first?.delivery.notification.rollout, is: rollout)
                try require(
                    try await bench.storage.setAudience(7, ofRollout: notification.sequence), is: 7)
                try require(
                    try await bench.storage.setAudience(8, ofRollout: notification.sequence), is: 7)
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: deliveries[0].id, isFannedOut: false, state: .processing,
                        counts: [.success: 3, .wrongToken: 2, .skipped: 4]))
                try require(
                    try await bench.storage.status(notification.id, in: hub)?.countedFrom, is: SendCounts())
                _ = try await bench.storage.control(.halt, notification.id, in: hub, at: bench.now)
                _ = try await bench.storage.control(.resume, notification.id, in: hub, at: bench.now)
                let status = try require(try await bench.storage.status(notification.id, in: hub))
                try require(status.countedFrom, is: SendCounts(succeeded: 3, failed: 2))
                try require(status.audience, is: 7)
                try require(
                    try await bench.storage.record(ofRollout: notification.sequence),
                    is: RolloutRecord(audience: 7, lastSentAt: nil))
                for seconds in [5, 3] {
                    var step = DeliveryStep(delivery: deliveries[0].id, isFannedOut: false, state: .processing)
                    step.sentAt = bench.now + .seconds(seconds)
                    try await bench.storage.record(step)
                }
                try require(
                    try await bench.storage.record(ofRollout: notification.sequence)?.lastSentAt,
                    is: bench.now + .seconds(5))
                // The clock was set back behind the last page, and then went on.
                for (now, last) in [(5, 5), (4, 4), (6, 4)] {
                    try await bench.storage.correctLastSending(
                        ofRollout: notification.sequence, at: bench.now + .seconds(now))
                    try require(
                        try await bench.storage.record(ofRollout: notification.sequence)?.lastSentAt,
                        is: bench.now + .seconds(last))
                }
            }
            try require(try await bench.storage.record(ofRollout: .max) == nil, is: true)
            try require(try await bench.storage.setAudience(1, ofRollout: .max) == nil, is: true)
            try await bench.storage.correctLastSending(ofRollout: .max, at: bench.now)
        },
    ]
}

extension StorageBench {
    /// Accepts a notification that begins at once on two platforms.
    fileprivate func acceptedTwice() async throws -> (Hub.ID, Notification, [Delivery]) {
        let hub = try await hub()
        let template = Template(body: "$(a)")
        try await put("1", "a", in: hub, template: template)
        try await put("2", "b", in: hub, on: otherPlatform, template: template)
        let (notification, deliveries) = try await accepted(
            notificationDraft(hub, .template(properties: Array("{}".utf8))))
        try require(deliveries.count, is: 2)
        return (hub, notification, deliveries)
    }
}
