import MartletCore
import MartletModel

extension StorageConformance {
    static let collapses: [Requirement] = [
        Requirement("A device is spared a notification while a later one with its key is for it") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x", "y"], in: hub)
            try await bench.put("2", "b", ["x"], in: hub)
            try await bench.put("3", "c", ["z"], in: hub)
            let first = try await bench.collapsing(hub, to: "x")
            let channels = try await bench.channels(hub)
            try require(try await bench.superseded(first, channels), is: [])
            _ = try await bench.collapsing(hub, to: "y", key: "other")
            _ = try await bench.accept(hub)
            try require(try await bench.superseded(first, channels), is: [])
            let second = try await bench.collapsing(hub, to: "Y && x")
            try require(try await bench.superseded(first, channels), is: [0])
            try require(try await bench.superseded(second, channels), is: [])
            _ = try await bench.collapsing(hub, to: "!x || y")
            try require(try await bench.superseded(first, channels), is: [0, 2])
            let third = try await bench.collapsing(hub, to: nil)
            try require(try await bench.superseded(first, channels), is: [0, 1, 2])
            try require(try await bench.superseded(third, channels), is: [])
            try await bench.put("4", "d", in: hub)
            try require(try await bench.superseded(first, try await bench.channels(hub)), is: [0, 1, 2])
        },
        Requirement("The newest of those that take the place is known until it is over") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x", "y"], in: hub)
            let first = try await bench.collapsing(hub, to: "x")
            let second = try await bench.collapsing(hub, to: "x")
            let third = try await bench.collapsing(hub, to: "y")
            let channels = try await bench.channels(hub)
            let target = Notification.Target.audience(try TagExpression("x"))
            let other = Notification.Target.audience(try TagExpression("z"))
            try require(try await bench.look(first, channels, target: other).newest, is: third.id)
            try require(try await bench.look(second, channels, target: other).newest, is: third.id)
            try require(try await bench.look(third, channels, target: other).newest, is: nil)
            try await bench.storage.record(
                DeliveryStep(delivery: third.id, isFannedOut: true, state: .completed, endedAt: bench.now))
            try require(try await bench.look(second, channels, target: other), is: Superseded(devices: [0]))
            let fourth = try await bench.collapsing(hub, to: "x")
            try require(try await bench.look(first, channels, target: target).newest, is: fourth.id)
        },
        Requirement("A notification to the same audience supersedes all earlier ones") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "b", ["x"], in: hub)
            let target = Notification.Target.audience(try TagExpression("x || z"))
            var deliveries: [Delivery] = []
            for _ in 0..<5 { deliveries.append(try await bench.collapsing(hub, to: "x || z")) }
            try await bench.put("3", "c", ["x"], in: hub)
            let channels = try await bench.channels(hub)
            for delivery in deliveries.dropLast() {
                let found = try await bench.look(delivery, channels, target: target)
                try require(found, is: Superseded(devices: [0, 1], newest: deliveries[4].id))
            }
            try require(try await bench.look(deliveries[4], channels, target: target), is: Superseded())
        },
        Requirement("Notifications of another hub or platform, and schedules that wait, supersede nothing") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            try await bench.put("1", "a", in: hub)
            try await bench.put("1", "a", in: other)
            let first = try await bench.collapsing(hub, to: nil)
            _ = try await bench.collapsing(other, to: nil)
            var draft = bench.notificationDraft(hub, dueIn: 10)
            draft.collapse = Collapse(key: "k")
            _ = try await bench.accepted(draft)
            let channels = try await bench.channels(hub)
            try require(try await bench.superseded(first, channels), is: [])
            _ = try await bench.storage.release(due: bench.now + .seconds(10), limit: 9)
            try require(try await bench.superseded(first, channels), is: [0])
        },
        Requirement("A schedule that is due is older than what is accepted afterwards, even if it has not begun") {
            bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            try await bench.put("1", "a", in: hub)
            try await bench.put("1", "a", in: other)
            for (target, seconds) in [(hub, 10), (hub, 20), (other, 10)] as [(Hub.ID, Int64)] {
                var schedule = bench.notificationDraft(target, dueIn: seconds)
                schedule.collapse = Collapse(key: "k")
                _ = try await bench.accepted(schedule)
            }
            _ = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10))
            var draft = bench.notificationDraft(hub, at: bench.now + .seconds(10))
            draft.collapse = Collapse(key: "k")
            let begun = try await bench.accepted(draft).deliveries
            try require(begun.count, is: 2)
            let channels = try await bench.channels(hub)
            try require(try await bench.superseded(begun[0], channels), is: [0])
            try require(try await bench.superseded(begun[1], channels), is: [])
            let rest = try await bench.storage.release(due: bench.now + .seconds(10), limit: 9)
            try require(rest.count, is: 2)
        },
        Requirement("A notification that ended before its first page supersedes nothing any more") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let first = try await bench.collapsing(hub, to: nil)
            let second = try await bench.collapsing(hub, to: nil)
            let third = try await bench.collapsing(hub, to: nil)
            let channels = try await bench.channels(hub)
            func end(_ delivery: Delivery, supersedesNone: Bool) async throws {
                var step = DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .canceled, endedAt: bench.now)
                step.supersedesNone = supersedesNone
                try await bench.storage.record(step)
            }
            try await end(third, supersedesNone: true)
            try require(try await bench.superseded(first, channels), is: [0])
            try require(try await bench.superseded(second, channels), is: [])
            try await end(second, supersedesNone: false)
            try require(try await bench.superseded(first, channels), is: [0])
        },
        Requirement("Later notifications that ended before anything of them was recorded are named, and can be ignored")
        {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "b", in: hub)
            let first = try await bench.collapsing(hub, to: nil)
            let canceled = try await bench.collapsing(hub, to: "x")
            let last = try await bench.collapsing(hub, to: nil)
            let channels = try await bench.channels(hub)
            let other = Notification.Target.audience(try TagExpression("z"))
            func cancel(_ delivery: Delivery) async throws {
                _ = try await bench.storage.control(.cancel, delivery.notification.id, in: hub, at: bench.now)
            }
            try require(try await bench.look(first, channels, target: other).unsent, is: [])
            try await cancel(canceled)
            try await cancel(last)
            let found = try await bench.look(first, channels, target: other)
            try require(found.devices, is: [0, 1])
            try require(found.newest, is: last.id)
            try require(found.unsent.last, is: last.id)
            try await bench.storage.supersedeNothing(last.id, in: hub)
            try require(
                try await bench.look(first, channels, target: other),
                is: Superseded(devices: [0], newest: canceled.id, unsent: [canceled.id]))
            try await bench.storage.supersedeNothing(canceled.id, in: hub)
            try require(try await bench.look(first, channels, target: other), is: Superseded())
        },
        Requirement("A later notification that has expired is named only if no page of it is recorded") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let first = try await bench.collapsing(hub, to: nil)
            let second = try await bench.collapsing(hub, to: nil)
            let channels = try await bench.channels(hub)
            let late = bench.now + .seconds(60)
            try require(try await bench.look(first, channels, at: late).unsent, is: [second.id])
            var step = DeliveryStep(delivery: second.id, isFannedOut: false, state: .processing)
            step.cursor = AudienceMember(channel: ChannelID(rawValue: 1))
            try await bench.storage.record(step)
            try require(try await bench.look(first, channels, at: late).unsent, is: [])
        },
        Requirement("A resend takes nobody's place, and is as old as its first original") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", ["x"], in: hub)
            try await bench.put("2", "b", ["x", "y"], in: hub)
            let original = try await bench.collapsing(hub, to: "x")
            let members = try await bench.audience(hub).members
            try await bench.end(original, refusing: members.map { ($0, .badChannel) })
            let newer = try await bench.collapsing(hub, to: "y")
            let first = try await bench.resent(original)
            try require(first.notification.collapse, is: original.notification.collapse)
            try require(first.notification.resend?.rank, is: original.id)
            let channels = try await bench.channels(hub)
            try require(try await bench.superseded(newer, channels), is: [])
            try require(try await bench.superseded(original.id, first, channels), is: [1])
            try await bench.end(first, refusing: members.map { ($0, .badChannel) })
            let second = try await bench.resent(first)
            let open = try require(try await bench.storage.unfinished(after: .none, limit: 10).last)
            try require(open.delivery.id, is: second.id)
            try require(open.delivery.notification.resend?.rank, is: original.id)
        },
        Requirement("A direct send takes the place of what its handles were sent, and the other way round") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            try await bench.put("2", "b", in: hub)
            let first = try await bench.collapsing(hub, to: nil)
            var draft = bench.notificationDraft(hub, to: .direct([PushHandle("b"), PushHandle("c")]))
            draft.collapse = Collapse(key: "k", handleKeys: ["b", "c"])
            let direct = try await bench.accepted(draft).deliveries[0]
            try require(direct.notification.collapse, is: draft.collapse)
            try require(try await bench.superseded(first, try await bench.channels(hub)), is: [1])
            try require(try await bench.superseded(direct, .handleKeys(["b", "c"])), is: [])
            _ = try await bench.collapsing(hub, to: nil)
            try require(try await bench.superseded(direct, .handleKeys(["b", "c"])), is: [0])
            draft.id = NotificationID(at: bench.now)
            _ = try await bench.accepted(draft)
            try require(try await bench.superseded(direct, .handleKeys(["b", "c"])), is: [0, 1])
        },
    ]
}

extension StorageBench {
    /// Accepts a notification that has a collapse key and begins at once.
    fileprivate func collapsing(_ hub: Hub.ID, to expression: String?, key: String = "k") async throws -> Delivery {
        var draft = notificationDraft(hub, to: .audience(try expression.map { try TagExpression($0) }))
        draft.collapse = Collapse(key: key)
        return try await accepted(draft).deliveries[0]
    }

    fileprivate func channels(_ hub: Hub.ID) async throws -> CollapseDevices {
        .channels(try await audience(hub, through: ChannelID(rawValue: .max)).channels)
    }

    fileprivate func superseded(_ delivery: Delivery, _ devices: CollapseDevices) async throws -> [Int] {
        try await superseded(delivery.id, delivery, devices)
    }

    /// - Parameter rank: The delivery whose age counts as the age of `delivery`.
    fileprivate func superseded(
        _ rank: Delivery.ID, _ delivery: Delivery, _ devices: CollapseDevices
    ) async throws -> [Int] {
        try await look(delivery, devices, rank: rank).devices
    }

    fileprivate func look(
        _ delivery: Delivery, _ devices: CollapseDevices, rank: Delivery.ID? = nil,
        target: Notification.Target = .audience(nil), at moment: Timestamp? = nil
    ) async throws -> Superseded {
        try await storage.superseded(
            CollapseQuery(
                delivery: rank ?? delivery.id, hub: delivery.notification.hub, platform: delivery.platform, key: "k",
                devices: devices, target: target, now: moment ?? now))
    }
}
