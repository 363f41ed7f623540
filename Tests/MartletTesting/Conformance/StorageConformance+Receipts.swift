import MartletCore
import MartletModel

extension StorageConformance {
    static let receipts: [Requirement] = [
        Requirement("The first receipt of a device for an event stays") { bench in
            let (hub, id) = try await bench.notified()
            let late = bench.now + .seconds(30)
            try await bench.receive(.notification(id), .opened, in: hub, at: bench.now + .seconds(-5))
            try await bench.receive(.notification(id), .opened, in: hub, at: bench.now + .seconds(-9))
            try await bench.receive(.notification(id), .received, in: hub, at: late)
            let wanted = [
                DeviceReceipt(device: "1", user: "bob", event: .opened, at: bench.now + .seconds(-5)),
                DeviceReceipt(device: "1", user: "bob", event: .received, at: bench.now),
            ]
            try require(try await bench.receipts(.notification(id), in: hub), is: wanted, "none is of the future")
            let rest = try await bench.storage.receipts(of: .notification(id), in: hub, after: wanted[0], limit: 9)
            try require(rest, is: [wanted[1]])
            try require(try await bench.receipts(.notification(id), in: hub, limit: 1), is: [wanted[0]])
        },
        Requirement("Receipts for another user's notifications are left out") { bench in
            let (hub, id) = try await bench.notified()
            try await bench.put("2", "h2", ["username:eve"], in: hub)
            try await bench.receive(.notification(id), in: hub, from: "2", of: "eve", at: bench.now)
            try await bench.receive(.notification(id), in: hub, from: "1", of: "eve", at: bench.now)
            try await bench.receive(.notification(id), in: hub, from: "9", of: "bob", at: bench.now)
            let unknown = NotificationID(at: bench.now)
            try await bench.receive(.notification(unknown), in: hub, at: bench.now)
            let other = try await bench.hub("other")
            try await bench.put("1", "h1", ["username:bob"], in: other)
            try await bench.receive(.notification(id), in: other, at: bench.now)
            try require(try await bench.receipts(.notification(id), in: hub), is: [])
            try require(try await bench.receipts(.notification(id), in: other), is: [])
            try require(try await bench.receipts(.notification(unknown), in: hub), is: [])
        },
        Requirement("A notification is a device's by its expression, its handle and its platform, once it has begun") {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h1", ["username:bob"], in: hub)
            let foreign = Notification.Content.native(bench.otherPlatform, Message(body: [1]))
            let drafts = [
                bench.notificationDraft(hub, to: .direct([PushHandle("h1")])),
                bench.notificationDraft(hub, to: .audience(nil)),
                bench.notificationDraft(hub, to: .direct([PushHandle("h2")])),
                bench.notificationDraft(hub, foreign, to: .audience(nil)),
                bench.notificationDraft(hub, .template(properties: []), to: .audience(nil)),
                bench.notificationDraft(hub, to: .audience(nil), dueIn: 60),
            ]
            var kept: [Int] = []
            for draft in drafts {
                guard case .accepted = try await bench.storage.accept(draft) else { continue }
                try await bench.receive(.notification(draft.id), in: hub, at: bench.now)
                kept.append(try await bench.receipts(.notification(draft.id), in: hub).count)
            }
            try require(kept, is: [1, 1, 0, 0, 0, 0])
        },
        Requirement("A composed message is a device's by its expression, on the platforms on which it is delivered") {
            bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h1", ["username:bob"], in: hub)
            try await bench.put("2", "h2", ["username:bob"], in: hub, on: bench.otherPlatform)
            try await bench.put("3", "h3", ["username:bob"], in: hub, template: Template(body: "{}"))
            let all = try await bench.compose(#"{"text": "x"}"#, to: "bob", in: hub)
            let some = try await bench.compose(
                #"{"text": "x", "platforms": {"parrot": false}}"#, to: "bob", in: hub)
            let other = try await bench.compose(#"{"text": "x"}"#, to: "eve", in: hub)
            try await bench.put("4", "h4", ["username:bob"], in: hub, on: PlatformID(rawValue: "owl"))
            for (id, devices) in [(all, ["1", "2"]), (some, ["1"]), (other, [])] {
                for device in ["1", "2", "3", "4"] {
                    try await bench.receive(.notification(id), .opened, in: hub, from: device, at: bench.now)
                }
                try require(try await bench.receipts(.notification(id), in: hub).map(\.device), is: devices)
            }
            let evidence = try await bench.storage.funnelEvidence(of: all, in: hub)
            let wanted = FunnelEvidence.PlatformCounts(received: 1, opened: 1, reported: [.opened])
            try require(evidence.platforms, is: [bench.platform: wanted, bench.otherPlatform: wanted])
            try require(try await bench.storage.receipts(of: all, from: "2", in: hub).map(\.event), is: [.opened])
        },
        Requirement("A payload's receipts are from its addressees, also after it was read once") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h1", ["username:bob"], in: hub)
            try await bench.put("2", "h2", ["username:bob"], in: hub)
            var draft = bench.payload("x", isOnce: true)
            draft.device = "1"
            let id = try await bench.sent(draft, to: ["bob"])
            let foreign = try await bench.sent(draft, to: ["eve"])
            let unpublished = try await bench.added(draft)
            try await bench.storage.addAddressees(["bob"], of: unpublished)
            _ = try await bench.storage.readPayload(id, for: "bob", at: bench.now, from: "")
            for payload in [id, foreign, unpublished] {
                try await bench.receive(.payload(payload), in: hub, at: bench.now)
                try await bench.receive(.payload(payload), in: hub, from: "2", at: bench.now)
            }
            let wanted = DeviceReceipt(device: "1", user: "bob", event: .received, at: bench.now)
            try require(try await bench.receipts(.payload(id), in: hub), is: [wanted])
            try require(try await bench.receipts(.payload(foreign), in: hub), is: [])
            try require(try await bench.receipts(.payload(unpublished), in: hub), is: [])
        },
    ]
}

extension StorageBench {
    /// Registers a device of Bob, and accepts a notification for him.
    func notified() async throws -> (Hub.ID, NotificationID) {
        let hub = try await hub()
        try await put("1", "h1", ["username:bob"], in: hub)
        let target = Notification.Target.audience(.tag(try Tag("username:bob")))
        return (hub, try await accept(hub, to: target).notification.id)
    }

    /// Accepts a composed message for a user.
    func compose(_ body: String, to user: String, in hub: Hub.ID) async throws -> NotificationID {
        let content = Notification.Content.message(try ComposedContent(Array(body.utf8)))
        let draft = notificationDraft(hub, content, to: .audience(.tag(try Tag("username:\(user)"))))
        let accepted = try await accepted(draft)
        return accepted.notification.id
    }

    func receive(
        _ subject: Receipt.Subject, _ event: Receipt.Event = .received, in hub: Hub.ID, from device: String = "1",
        of user: String = "bob", at timestamp: Timestamp
    ) async throws {
        let source = ReceiptSource(hub: hub, device: device, user: user, tag: try Tag("username:\(user)"))
        try await storage.addReceipts([Receipt(subject: subject, event: event, at: timestamp)], from: source, at: now)
    }

    func receipts(
        _ subject: Receipt.Subject, in hub: Hub.ID, limit: Int = 100
    ) async throws -> [DeviceReceipt] {
        try await storage.receipts(of: subject, in: hub, after: nil, limit: limit)
    }
}
