import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct SweepingTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)
    private let platform = PlatformID(rawValue: "pigeon")

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer())
    }

    private func hub(_ storage: SQLiteStorage) async throws -> Hub.ID {
        try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
    }

    private func put(
        _ ids: [String], in hub: Hub.ID, of storage: SQLiteStorage, expiresAt: Timestamp? = nil
    ) async throws {
        for id in ids {
            let draft = RegistrationDraft(
                platform: platform, handle: PushHandle("h\(id)"), handleKey: "h\(id)", tags: [try Tag("x")],
                expiresAt: expiresAt)
            _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now).get()
        }
    }

    private func remove(_ ids: [String], in hub: Hub.ID, of storage: SQLiteStorage) async throws {
        for id in ids {
            _ = try await storage.apply(RegistrationChange.delete(id: id, condition: .none), in: hub, at: now).get()
        }
    }

    private func refusal(_ id: String, in hub: Hub.ID, of storage: SQLiteStorage) async throws -> RegistrationRefusal? {
        switch try await storage.apply(RegistrationChange.delete(id: id, condition: .none), in: hub, at: now) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }

    private func rows(_ table: String, of storage: SQLiteStorage) async throws -> Int64? {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM \(table)") { $0.integer(0) }
        }
    }

    @Test func expiredRegistrationsGoWithTheirChannelsAndTags() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await put(["1", "2"], in: hub, of: storage, expiresAt: now + .seconds(1))
        try await storage.sweep(at: now)
        #expect(try await rows("registrations", of: storage) == 2, "not yet")
        try await storage.sweep(at: now + .seconds(1))
        for table in ["registrations", "channels", "tag_members", "tags"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        #expect(try await refusal("1", in: hub, of: storage) == .gone)
        await storage.close()
    }

    @Test func anIdIsGoneForNinetyDays() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await put(["1"], in: hub, of: storage)
        try await remove(["1"], in: hub, of: storage)
        let end = now + .seconds(90 * 86_400)
        try await storage.sweep(at: Timestamp(milliseconds: end.milliseconds - 1))
        #expect(try await refusal("1", in: hub, of: storage) == .gone)
        try await storage.sweep(at: end)
        #expect(try await refusal("1", in: hub, of: storage) == .notFound)
        await storage.close()
    }

    @Test func onlySoManyIdsAreRememberedAsGone() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let ids = (1...5).map(String.init)
        try await put(ids, in: hub, of: storage)
        try await remove(ids, in: hub, of: storage)
        try await storage.sweep(at: now, keeping: Retention(tombstoneLimit: 2))
        #expect(try await refusal("3", in: hub, of: storage) == .notFound)
        #expect(try await refusal("4", in: hub, of: storage) == .gone)
        #expect(try await refusal("5", in: hub, of: storage) == .gone)
        await storage.close()
    }

    @Test func onlySoMuchIsRememberedOfWhatRegistrationsWere() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let ids = (1...5).map(String.init)
        try await put(ids, in: hub, of: storage)
        try await remove(ids, in: hub, of: storage)
        #expect(try await rows("former_channels", of: storage) == 5)
        try await storage.sweep(at: now, keeping: Retention(historyLimit: 2))
        #expect(try await rows("former_channels", of: storage) == 2, "of whom nothing else is known")
        #expect(try await storage.past(of: "3", in: hub).versions.isEmpty)
        #expect(try await storage.past(of: "4", in: hub).versions.count == 1)
        #expect(try await storage.past(of: "4", in: hub).knownSince == 3, "what was before is not known any more")
        await storage.close()
    }

    @Test func theFormerStatesThatALongNotificationNeedsAreKeptAsLongAsItIs() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await put(["1"], in: hub, of: storage)
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub, content: .native(platform, Message(body: [1])),
            target: .audience(nil), acceptedAt: now, expiresAt: now + .seconds(28 * 86_400))
        guard case .accepted(_, let deliveries) = try await storage.accept(draft) else {
            Issue.record("the notification was not accepted")
            return
        }
        _ = try await storage.apply(
            RegistrationChange.delete(id: "1", condition: .none), in: hub, at: now + .seconds(60)
        ).get()
        let end = now + .seconds(28 * 86_400)
        try await storage.sweep(at: now + .seconds(32 * 86_400))
        #expect(try await storage.past(of: "1", in: hub).versions.count == 1, "the notification is unfinished")
        try await storage.record(
            DeliveryStep(
                delivery: deliveries[0].id, isFannedOut: true, state: .completed, endedAt: end, counts: [.success: 1]))
        try await storage.sweep(at: end + .seconds(30 * 86_400 - 1))
        #expect(try await storage.past(of: "1", in: hub).versions.count == 1, "the notification can be traced")
        for _ in 0..<2 { try await storage.sweep(at: end + .seconds(30 * 86_400)) }
        #expect(try await storage.past(of: "1", in: hub).versions.isEmpty)
        await storage.close()
    }

    @Test func withoutALongNotificationFormerStatesAreKeptForADayMoreThanNotifications() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await put(["1"], in: hub, of: storage)
        _ = try await storage.broadcast(in: hub, at: now)
        try await remove(["1"], in: hub, of: storage)
        let end = now + .seconds(31 * 86_400)
        try await storage.sweep(at: Timestamp(milliseconds: end.milliseconds - 1))
        #expect(try await storage.past(of: "1", in: hub).versions.count == 1)
        try await storage.sweep(at: end)
        #expect(try await storage.past(of: "1", in: hub).versions.isEmpty)
        await storage.close()
    }

    @Test func oldNotificationsGoOnceTheyAreFinal() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let gone = try await storage.broadcast(in: hub, at: now)
        let open = try await storage.broadcast(in: hub, at: now)
        try await storage.record(
            DeliveryStep(
                delivery: gone.id, isFannedOut: true, state: .completed, endedAt: now, counts: [.success: 1]))
        try await storage.sweep(at: now + .seconds(30 * 86_400))
        #expect(try await storage.report(gone.notification.id, in: hub) == nil)
        #expect(try await storage.report(open.notification.id, in: hub) != nil)
        #expect(try await rows("outcome_counts", of: storage) == 0)
        await storage.close()
    }

    @Test func waitingSchedulesAreKeptAndDelayNoSweep() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let later = now + .seconds(300 * 86_400)
        func draft(_ number: Int) -> NotificationDraft {
            NotificationDraft(
                id: NotificationID(at: now), hub: hub, content: .native(platform, Message(body: [1])),
                target: .audience(nil), acceptedAt: now, dueAt: later, expiresAt: later,
                request: RequestIdentity(
                    key: [UInt8](repeating: 0, count: 28) + withUnsafeBytes(of: UInt32(number)) { Array($0) },
                    fingerprint: Array(repeating: 0, count: 32)))
        }
        for number in 0..<(Sweeper.limit + 10) { _ = try await storage.accept(draft(number)) }
        let gone = try await storage.broadcast(in: hub, at: now)
        try await storage.record(
            DeliveryStep(delivery: gone.id, isFannedOut: true, state: .completed, endedAt: now))
        try await storage.sweep(at: now + .seconds(86_399))
        #expect(try await rows("requests", of: storage) == Int64(Sweeper.limit + 10))
        try await storage.sweep(at: now + .seconds(31 * 86_400))
        #expect(try await storage.report(gone.notification.id, in: hub) == nil)
        #expect(try await rows("notifications", of: storage) == Int64(Sweeper.limit + 10))
        #expect(try await rows("requests", of: storage) == 0)
        #expect(try await storage.nextDue() == later)
        await storage.close()
    }

    /// A broadcast that was refused by many and is still tried for many.
    private func broadcast(_ count: Int64, in hub: Hub.ID, of storage: SQLiteStorage) async throws {
        let delivery = try await storage.broadcast(in: hub, at: now).id
        let members = (1...count).map { AudienceMember(channel: ChannelID(rawValue: $0)) }
        try await storage.record(
            DeliveryStep(
                delivery: delivery, isFannedOut: true, state: .completed, endedAt: now,
                refusals: members.map {
                    Refusal(member: $0, handle: nil, outcome: .badChannel, reason: "Gone", at: now)
                },
                retries: members.map {
                    Retry(member: $0, attempts: 1, dueAt: now, outcome: .throttled, reason: "Storm")
                }))
    }

    @Test func recordsOfABroadcastAreRemovedInPortions() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await broadcast(1200, in: hub, of: storage)
        let later = now + .seconds(30 * 86_400)
        let count = try await storage.writer.write { connection throws(StorageError) in
            try Sweeper(connection, Retention(), at: later).removePortion(of: .notifications)
        }
        #expect(count == Sweeper.limit)
        #expect(try await rows("refusals", of: storage) == 1200 - Int64(Sweeper.limit))
        #expect(try await rows("notifications", of: storage) == 1)
        try await storage.sweep(at: later)
        for table in ["notifications", "refusals", "retries"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test func valuesOfPagesAreRemovedInPortions() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let delivery = try await storage.broadcast(in: hub, at: now)
        for page in 1...40 {
            let member = AudienceMember(channel: ChannelID(rawValue: Int64(page)))
            try await storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now,
                    refusals: [Refusal(member: member, handle: nil, outcome: .badChannel, reason: "Gone", at: now)],
                    range: RangeRecord(last: member, snapshot: .none, startedAt: now, endedAt: now)))
        }
        #expect(try await rows("page_records", of: storage) == 40)
        #expect(try await rows("refusals", of: storage) == 0)
        #expect(
            try await storage.refused(in: hub, after: nil, limit: 9) == [delivery.notification.id])
        let later = now + .seconds(30 * 86_400)
        _ = try await storage.writer.write { connection throws(StorageError) in
            try Sweeper(connection, Retention(), at: later).removePortion(of: .notifications)
        }
        #expect(try await rows("page_records", of: storage) == 40 - Int64(Sweeper.limit / 20))
        #expect(
            try await storage.refused(in: hub, after: nil, limit: 9) == [delivery.notification.id])
        try await storage.sweep(at: later)
        for table in ["notifications", "page_records"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    /// A notification that has ended, with a device that has a key and sent a receipt.
    private func receive(in hub: Hub.ID, of storage: SQLiteStorage) async throws {
        try await put(["1"], in: hub, of: storage)
        let key = DeviceKey(publicKey: [4], authSecret: [1])
        #expect(try await storage.putDeviceKey(key, of: "1", tagged: Tag("x"), in: hub))
        let delivery = try await storage.broadcast(in: hub, at: now)
        let receipt = Receipt(subject: .notification(delivery.notification.id), event: .opened, at: now)
        try await storage.addReceipts(
            [receipt], from: ReceiptSource(hub: hub, device: "1", user: "bob", tag: try Tag("x")), at: now)
        try await storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now))
        #expect(try await rows("notification_receipts", of: storage) == 1)
    }

    @Test func receiptsGoWithTheirNotification() async throws {
        let storage = try open()
        try await receive(in: try await hub(storage), of: storage)
        try await storage.sweep(at: now + .seconds(30 * 86_400))
        for table in ["notifications", "notification_receipts"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test func keysGoWithTheirRegistration() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await receive(in: hub, of: storage)
        #expect(try await rows("device_keys", of: storage) == 1)
        try await remove(["1"], in: hub, of: storage)
        #expect(try await rows("device_keys", of: storage) == 0)
        await storage.close()
    }

    @Test func aDeletedHubTakesKeysAndReceiptsWithIt() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await receive(in: hub, of: storage)
        #expect(try await storage.deleteHub(hub))
        for table in ["hubs", "device_keys", "notification_receipts"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test func aDeletedHubTakesItsBroadcastsWithItInPortions() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await broadcast(2500, in: hub, of: storage)
        let before = storage.writer.commitCount
        #expect(try await storage.deleteHub(hub))
        #expect(storage.writer.commitCount - before > 5)
        for table in ["notifications", "refusals", "retries", "hubs"] {
            #expect(try await rows(table, of: storage) == 0, "\(table)")
        }
        await storage.close()
    }

    @Test("A deleted hub takes the progress maps of its unfinished deliveries with it")
    func aDeletedHubTakesItsProgressMapsWithIt() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        let draft = NotificationDraft(
            id: NotificationID(high: 1, low: 2), hub: hub,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: [1])),
            target: .direct([PushHandle("loft")]), acceptedAt: now, expiresAt: now + .seconds(60))
        guard case .accepted(_, let deliveries) = try await storage.accept(draft), let id = deliveries.first?.id else {
            Issue.record("the notification was not accepted")
            return
        }
        for count in [1, 1_000_000] {
            _ = try storage.progressMaps.map(for: id, through: Int64(count), expecting: count)
        }
        #expect(try storage.progressMaps.existingMap(for: id, through: 1) != nil)
        #expect(try await storage.deleteHub(hub))
        #expect(try storage.progressMaps.existingMap(for: id, through: 1) == nil)
        await storage.close()
    }

    @Test func expiredSessionsGo() async throws {
        let storage = try open()
        try await storage.putUser(User(name: "alice", passwordHash: "", createdAt: now))
        for number in 0..<2 {
            try await storage.addSession(
                Session(
                    tokenHash: [UInt8(number)], userName: "alice", createdAt: now,
                    expiresAt: now + .seconds(Int64(number))))
        }
        try await storage.sweep(at: now)
        #expect(try await rows("sessions", of: storage) == 1)
        await storage.close()
    }

    @Test func aHubWhoseRemovalWasCutShortIsRemovedByTheNextSweep() async throws {
        let storage = try open()
        let hub = try await hub(storage)
        try await put(["1", "2"], in: hub, of: storage)
        let isThere = try await storage.writer.write { connection throws(StorageError) in
            try HubTable(connection, XORSealer()).markDeleted(hub)
        }
        #expect(isThere)
        await storage.close()

        let reopened = try open()
        #expect(try await reopened.hubs().isEmpty)
        try await reopened.sweep(at: now)
        for table in ["hubs", "registrations", "channels", "tag_members", "tags", "tombstones"] {
            #expect(try await rows(table, of: reopened) == 0, "\(table)")
        }
        await reopened.close()
    }
}
