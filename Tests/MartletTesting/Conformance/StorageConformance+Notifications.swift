import MartletCore
import MartletModel

extension StorageConformance {
    static let notifications: [Requirement] = [
        Requirement("An accepted notification is unfinished and comes back as it was") { bench in
            let hub = try await bench.hub()
            let expression = try TagExpression("(a || B) && !c")
            let message = Message(body: [0, 255, 10], fields: ["x-a": "1, \"2\"", "x-b": ""])
            let accepted = try await bench.accept(hub, to: .audience(expression), .native(bench.platform, message))
            let open = try require(try await bench.storage.unfinished(after: .none, limit: 10).first)
            try require(open.state, is: .enqueued)
            try require(open.cursor, is: .none)
            try require(open.isFannedOut, is: false)
            try require(open.delivery.id, is: accepted.id)
            try require(open.delivery.platform, is: bench.platform)
            try require(open.delivery.bounds, is: accepted.bounds)
            let report = try require(try await bench.storage.report(accepted.notification.id, in: hub))
            try require(report.platforms, is: [bench.platform])
            for notification in [open.delivery.notification, report.notification] {
                try require(notification.sequence, is: accepted.notification.sequence)
                try require(notification.id, is: accepted.notification.id)
                try require(notification.hub, is: hub)
                try require(notification.acceptedAt, is: bench.now)
                try require(notification.dueAt, is: nil)
                try require(notification.expiresAt, is: bench.now + .seconds(60))
                guard case .audience(expression) = notification.target,
                    case .native(bench.platform, let stored) = notification.content
                else { throw ConformanceFailure(description: "the target or the content has changed") }
                try require(stored.body, is: message.body)
                try require(stored.fields, is: message.fields)
            }
        },
        Requirement("A direct send keeps its handles in their order and reaches no channel") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let handles = [PushHandle("p", "q"), PushHandle("\u{1F426}"), PushHandle("ab")]
            let accepted = try await bench.accept(hub, to: .direct(handles))
            try require(accepted.bounds, is: .none)
            let open = try require(try await bench.storage.unfinished(after: .none, limit: 10).first)
            guard case .direct(handles) = open.delivery.notification.target else {
                throw ConformanceFailure(description: "the target has changed")
            }
        },
        Requirement("A template notification keeps its properties and has a delivery where there are templates") {
            bench in
            let hub = try await bench.hub()
            let properties = Array(#"{"a":"1"}"#.utf8)
            let nobody = try await bench.accepted(bench.notificationDraft(hub, .template(properties: properties)))
            try require(nobody.deliveries.count, is: 0)
            let report = try require(try await bench.storage.report(nobody.notification.id, in: hub))
            try require(report.state, is: .noTargetFound)
            try require(report.startedAt, is: bench.now)
            try require(report.endedAt, is: bench.now)
            let template = Template(body: "$(a)")
            try await bench.put("1", "a", in: hub, template: template)
            try await bench.put("2", "b", in: hub, on: bench.otherPlatform, template: template)
            try await bench.put("3", "c", in: hub, on: PlatformID(rawValue: "canary"))
            let some = try await bench.accepted(bench.notificationDraft(hub, .template(properties: properties)))
            try require(some.deliveries.map(\.platform), is: [bench.otherPlatform, bench.platform])
            let open = try await bench.storage.unfinished(after: .none, limit: 10)
            try require(open.map(\.delivery.id), is: some.deliveries.map(\.id))
            try require(open.map(\.delivery.bounds), is: some.deliveries.map(\.bounds))
            guard case .template(properties) = open[0].delivery.notification.content else {
                throw ConformanceFailure(description: "the content has changed")
            }
        },
        Requirement("Deliveries count up, and the unfinished are read in their order and in pages") { bench in
            let hub = try await bench.hub()
            var ids: [Delivery.ID] = []
            for _ in 0..<5 { ids.append(try await bench.accept(hub).id) }
            try require(ids, is: ids.sorted())
            let page = try await bench.storage.unfinished(after: ids[1], limit: 2)
            try require(page.map(\.delivery.id), is: Array(ids[2...3]))
        },
        Requirement("Another hub has no report of it") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            let accepted = try await bench.accept(hub)
            try require(try await bench.storage.report(accepted.notification.id, in: other) == nil, is: true)
            let unknown = NotificationID(at: bench.now)
            try require(try await bench.storage.report(unknown, in: hub) == nil, is: true)
        },
    ]

    static let schedules: [Requirement] = [
        Requirement("A scheduled notification waits for its time, and has the audience of that time") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let later = try await bench.accepted(bench.notificationDraft(hub, dueIn: 20))
            let sooner = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10))
            try require(later.deliveries.count + sooner.deliveries.count, is: 0)
            try require(try await bench.unfinished(), is: [])
            try require(try await bench.storage.report(later.notification.id, in: hub)?.state, is: .scheduled)
            try require(try await bench.storage.nextDue(), is: bench.now + .seconds(10))
            try require(try await bench.storage.release(due: bench.now + .seconds(9), limit: 10).count, is: 0)
            try await bench.put("2", "b", in: hub)
            let due = bench.now + .seconds(20)
            let first = try await bench.storage.release(due: due, limit: 1)
            let second = try await bench.storage.release(due: due, limit: 9)
            try require([first.count, second.count], is: [1, 1])
            let released = first.deliveries + second.deliveries
            try require(
                released.map(\.notification.id), is: [sooner.notification.id, later.notification.id])
            try require(released.map(\.notification.expiresAt), is: [bench.now + .seconds(70), due + .seconds(60)])
            try require(
                try await bench.audience(hub, through: released[0].bounds.channel).handles, is: ["a", "b"])
            try require(try await bench.unfinished(), is: released.map(\.id))
            try require(try await bench.storage.nextDue(), is: nil)
            try require(try await bench.storage.release(due: due, limit: 9).count, is: 0)
            let report = try require(try await bench.storage.report(later.notification.id, in: hub))
            try require(report.state, is: .enqueued)
            try require(report.notification.dueAt, is: due)
        },
        Requirement("A scheduled notification without an audience ends when it is released") { bench in
            let hub = try await bench.hub()
            let draft = bench.notificationDraft(hub, .template(properties: Array("{}".utf8)), dueIn: 5)
            let accepted = try await bench.accepted(draft)
            let released = try await bench.storage.release(due: bench.now + .seconds(6), limit: 10)
            try require(released.count, is: 1)
            try require(released.deliveries.count, is: 0)
            let report = try require(try await bench.storage.report(accepted.notification.id, in: hub))
            try require(report.state, is: .noTargetFound)
            try require(report.endedAt, is: bench.now + .seconds(6))
        },
        Requirement("A schedule withdrawn in time is never sent; a notification that has begun cannot be withdrawn") {
            bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            let id = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10)).notification.id
            try require(try await bench.storage.cancel(id, in: other, at: bench.now), is: .notFound)
            let timestamp = bench.now + .seconds(1)
            try require(try await bench.storage.cancel(id, in: hub, at: timestamp), is: .canceled)
            try require(try await bench.storage.cancel(id, in: hub, at: timestamp + .seconds(1)), is: .canceled)
            try require(try await bench.storage.nextDue(), is: nil)
            try require(try await bench.storage.release(due: bench.now + .seconds(60), limit: 10).count, is: 0)
            let report = try require(try await bench.storage.report(id, in: hub))
            try require(report.state, is: .canceled)
            try require(report.endedAt, is: timestamp)
            let begun = try await bench.accept(hub)
            try require(try await bench.storage.cancel(begun.notification.id, in: hub, at: timestamp), is: .begun)
            let released = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10)).notification.id
            _ = try await bench.storage.release(due: bench.now + .seconds(10), limit: 10)
            try require(try await bench.storage.cancel(released, in: hub, at: timestamp), is: .begun)
        },
        Requirement("The replacement of a schedule is sent under the same id") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            try await bench.put("1", "a", in: hub)
            let old = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10)).notification
            var draft = bench.notificationDraft(hub, .template(properties: [123, 125]), dueIn: 30)
            draft.id = old.id
            draft.statesExpiry = true
            try require(try await bench.storage.replace(draft), is: .replaced(.running))
            draft.hub = other
            try require(try await bench.storage.replace(draft), is: .notFound)
            draft.hub = hub
            draft.target = .audience(.tag(try Tag("x")))
            draft.content = bench.message()
            try require(try await bench.storage.replace(draft), is: .replaced(.running))
            try require(try await bench.storage.nextDue(), is: bench.now + .seconds(30))
            try require(try await bench.storage.release(due: bench.now + .seconds(29), limit: 9).count, is: 0)
            let released = try await bench.storage.release(due: bench.now + .seconds(30), limit: 9)
            try require(released.deliveries.map(\.notification.id), is: [old.id])
            let new = released.deliveries[0].notification
            try require(new.sequence, is: old.sequence)
            try require(new.expiresAt, is: bench.now + .seconds(90))
            try require(new.statesExpiry, is: true)
            try require("\(new.target)", is: "\(draft.target)")
            try require(new.content.body, is: draft.content.body)
            try require(try await bench.storage.replace(draft), is: .begun)
        },
        Requirement("A paused schedule stays paused when it is replaced, and the result says so") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let old = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10)).notification
            _ = try await bench.storage.control(.pause, old.id, in: hub, at: bench.now)
            var draft = bench.notificationDraft(hub, dueIn: 30)
            draft.id = old.id
            try require(try await bench.storage.replace(draft), is: .replaced(.paused))
            try require(try await bench.storage.status(old.id, in: hub)?.control, is: .paused)
            _ = try await bench.storage.control(.resume, old.id, in: hub, at: bench.now)
            try require(try await bench.storage.replace(draft), is: .replaced(.running))
        },
        Requirement("A paused schedule begins when it is resumed, or when it expires") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let draft = bench.notificationDraft(hub, dueIn: 10)
            let held = try await bench.accepted(draft).notification
            _ = try await bench.accepted(bench.notificationDraft(hub, dueIn: 20))
            _ = try await bench.storage.control(.pause, held.id, in: hub, at: bench.now)
            try require(try await bench.storage.nextDue(), is: bench.now + .seconds(20))
            let other = try await bench.storage.release(due: bench.now + .seconds(30), limit: 9)
            try require(other.deliveries.map(\.notification.id) == [held.id], is: false)
            try require(other.count, is: 1)
            // The paused notification has not begun, so only its expiry is due.
            try require(try await bench.storage.nextDue(), is: held.expiresAt)
            var new = bench.notificationDraft(hub, dueIn: 15)
            new.id = held.id
            try require(try await bench.storage.replace(new), is: .replaced(.paused))
            _ = try await bench.storage.control(.resume, held.id, in: hub, at: bench.now)
            try require(try await bench.storage.nextDue(), is: bench.now + .seconds(15))
            _ = try await bench.storage.control(.pause, held.id, in: hub, at: bench.now)
            try require(try await bench.storage.release(due: new.expiresAt + .seconds(-1), limit: 9).count, is: 0)
            let late = try await bench.storage.release(due: new.expiresAt, limit: 9)
            try require(late.deliveries.map(\.notification.id), is: [held.id])
            try require(try await bench.storage.nextDue(), is: nil)
        },
        Requirement("A withdrawn schedule is not replaced") { bench in
            let hub = try await bench.hub()
            var draft = bench.notificationDraft(hub, dueIn: 10)
            try require(try await bench.storage.replace(draft), is: .notFound)
            let id = try await bench.accepted(draft).notification.id
            draft.id = id
            try require(try await bench.storage.cancel(id, in: hub, at: bench.now), is: .canceled)
            try require(try await bench.storage.replace(draft), is: .canceled)
            try require(try await bench.storage.nextDue(), is: nil)
            try require(try await bench.storage.report(id, in: hub)?.state, is: .canceled)
        },
        Requirement("A replacement and a release at the same time exclude each other") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            for _ in 0..<20 {
                let old = try await bench.accepted(bench.notificationDraft(hub, dueIn: 1)).notification
                var draft = bench.notificationDraft(hub, bench.message([9]), dueIn: 2)
                draft.id = old.id
                let wanted = draft
                async let replaced = bench.storage.replace(wanted)
                async let first = bench.storage.release(due: bench.now + .seconds(1), limit: 9)
                let (replacement, released) = (try await replaced, try await first.deliveries)
                let late = try await bench.storage.release(due: bench.now + .seconds(2), limit: 9).deliveries
                try require(released.count + late.count, is: 1)
                let body = (released + late)[0].notification.content.body
                let isNew = body == wanted.content.body
                try require(replacement, is: isNew ? .replaced(.running) : .begun)
                try require(released.isEmpty, is: isNew)
            }
        },
        Requirement("Schedules of a deleted hub are not released") { bench in
            let hub = try await bench.hub()
            _ = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10))
            _ = try await bench.storage.deleteHub(hub)
            try require(try await bench.storage.nextDue(), is: nil)
            try require(try await bench.storage.release(due: .distantFuture, limit: 10).count, is: 0)
        },
    ]

    static let repetitions: [Requirement] = [
        Requirement("A repeated request is not accepted twice within a day, and nothing else goes under its key") {
            bench in
            let hub = try await bench.hub()
            func accept(
                _ key: UInt8, _ fingerprint: UInt8, after seconds: Int64, in other: Hub.ID? = nil
            ) async throws
                -> Acceptance
            {
                let request = RequestIdentity(
                    key: Array(repeating: key, count: 32), fingerprint: Array(repeating: fingerprint, count: 32))
                let timestamp = bench.now + .seconds(seconds)
                return try await bench.storage.accept(
                    bench.notificationDraft(other ?? hub, request: request, at: timestamp))
            }
            guard case .accepted(let first, _) = try await accept(1, 1, after: 0),
                case .repeated(first.id) = try await accept(1, 1, after: 86_399),
                case .conflicting = try await accept(1, 2, after: 86_399),
                case .accepted(let second, _) = try await accept(1, 2, after: 86_400),
                case .repeated(second.id) = try await accept(1, 2, after: 86_401),
                case .conflicting = try await accept(1, 1, after: 86_401),
                case .accepted = try await accept(2, 1, after: 0),
                case .accepted = try await accept(1, 1, after: 0, in: try await bench.hub("other"))
            else { throw ConformanceFailure(description: "a request was not told apart") }
            try require(try await bench.unfinished().count, is: 4)
        },
        Requirement("It is known for a day what a repeated request would get, and nothing is stored by asking") {
            bench in
            let hub = try await bench.hub()
            let key = Array(repeating: UInt8(1), count: 32)
            let request = RequestIdentity(key: key, fingerprint: key)
            let changed = RequestIdentity(key: key, fingerprint: Array(repeating: 2, count: 32))
            let other = RequestIdentity(key: Array(repeating: 2, count: 32), fingerprint: key)
            let store = bench.storage
            guard try await store.earlier(request, in: hub, at: bench.now) == nil,
                case .accepted(let first, _) = try await store.accept(bench.notificationDraft(hub, request: request)),
                case .repeated(first.id) = try await store.earlier(request, in: hub, at: bench.now + .seconds(86_399)),
                case .conflicting = try await store.earlier(changed, in: hub, at: bench.now),
                try await store.earlier(request, in: hub, at: bench.now + .seconds(86_400)) == nil,
                try await store.earlier(other, in: hub, at: bench.now) == nil,
                try await store.earlier(request, in: try await bench.hub("other"), at: bench.now) == nil
            else { throw ConformanceFailure(description: "a request was not told apart") }
            try require(try await bench.unfinished().count, is: 1)
        },
        Requirement("Only one of several equal concurrent requests is accepted") { bench in
            let hub = try await bench.hub()
            let request = RequestIdentity(
                key: Array(repeating: 7, count: 32), fingerprint: Array(repeating: 8, count: 32))
            let ids = try await withThrowingTaskGroup(of: (NotificationID, isNew: Bool)?.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        switch try await bench.storage.accept(bench.notificationDraft(hub, dueIn: 9, request: request))
                        {
                        case .accepted(let notification, _): (notification.id, true)
                        case .repeated(let id): (id, false)
                        case .conflicting, .backlogged: nil
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try require(ids.count { $0?.isNew == true }, is: 1)
            try require(Set(ids.map { $0?.0 }).count, is: 1)
        },
    ]

    static let deliveries: [Requirement] = [
        Requirement("Steps move the cursor, add up counts and keep the first start") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            try await bench.storage.record(
                DeliveryStep(
                    delivery: accepted.id, cursor: AudienceMember(channel: ChannelID(rawValue: 7), registration: 9),
                    isFannedOut: false,
                    state: .processing, startedAt: bench.now, counts: [.success: 2, .badChannel: 1]))
            try await bench.storage.record(
                DeliveryStep(
                    delivery: accepted.id, isFannedOut: true, state: .processing,
                    startedAt: bench.now + .seconds(9), counts: [.success: 3]))
            let open = try require(try await bench.storage.unfinished(after: .none, limit: 10).first)
            try require(open.cursor, is: AudienceMember(channel: ChannelID(rawValue: 7), registration: 9))
            try require(open.isFannedOut, is: true)
            try require(open.state, is: .processing)
            let report = try require(try await bench.storage.report(accepted.notification.id, in: hub))
            try require(report.counts, is: [bench.platform: [.success: 5, .badChannel: 1]])
            try require(report.startedAt, is: bench.now)
            try require(report.endedAt, is: nil)
        },
        Requirement("A final delivery is reported and does not count as unfinished") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            try await bench.storage.record(
                DeliveryStep(
                    delivery: accepted.id, isFannedOut: true, state: .completed, startedAt: bench.now,
                    endedAt: bench.now + .seconds(1)))
            try require(try await bench.unfinished(), is: [])
            let report = try require(try await bench.storage.report(accepted.notification.id, in: hub))
            try require(report.state, is: .completed)
            try require(report.endedAt, is: bench.now + .seconds(1))
        },
        Requirement("Retries are due in their order, replaced by member, and end when settled") { bench in
            let hub = try await bench.hub()
            let id = try await bench.accept(hub).id
            func step(_ retries: [Retry], settled: [Int64] = []) async throws {
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: id, isFannedOut: true, state: .processing, retries: retries,
                        settled: settled.map { AudienceMember(channel: ChannelID(rawValue: $0)) }))
            }
            func due(_ seconds: Int64, limit: Int = 10) async throws -> [Int64] {
                try await bench.storage.retries(of: id, due: bench.now + .seconds(seconds), limit: limit)
                    .map(\.member.channel.rawValue)
            }
            try require(try await bench.storage.nextRetry(of: id), is: nil)
            try await step([bench.retry(1, dueIn: 30), bench.retry(2, dueIn: 10), bench.retry(3, dueIn: 20)])
            try require(try await bench.storage.nextRetry(of: id), is: bench.now + .seconds(10))
            try require(try await due(9), is: [])
            try require(try await due(20), is: [2, 3])
            try require(try await due(100, limit: 1), is: [2])
            try await step([bench.retry(2, dueIn: 40, attempts: 2)], settled: [2, 3])
            let left = try await bench.storage.retries(of: id, due: .distantFuture, limit: .max)
            try require(left.map(\.member.channel.rawValue), is: [1, 2])
            try require(left.map(\.attempts), is: [1, 2])
            try require(left.map(\.outcome), is: [.throttled, .throttled])
            try require(left.map(\.reason), is: ["Storm", "Storm"])
        },
        Requirement("Retries of one delivery are nothing to another") { bench in
            let hub = try await bench.hub()
            let (first, second) = (try await bench.accept(hub).id, try await bench.accept(hub).id)
            for id in [first, second] {
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: id, isFannedOut: true, state: .processing,
                        retries: [bench.retry(1, dueIn: id.rawValue)]))
            }
            try await bench.storage.record(
                DeliveryStep(
                    delivery: first, isFannedOut: true, state: .processing,
                    settled: [AudienceMember(channel: ChannelID(rawValue: 1))]))
            try require(try await bench.storage.nextRetry(of: first), is: nil)
            try require(try await bench.storage.nextRetry(of: second), is: bench.now + .seconds(second.rawValue))
        },
        Requirement("Retries that lie too far ahead come sooner, and no others") { bench in
            let hub = try await bench.hub()
            let id = try await bench.accept(hub).id
            try await bench.storage.record(
                DeliveryStep(
                    delivery: id, isFannedOut: true, state: .processing,
                    retries: [bench.retry(1, dueIn: 90), bench.retry(2, dueIn: 110), bench.retry(3, dueIn: 1000)]))
            try await bench.storage.expediteRetries(beyond: bench.now + .seconds(100), by: .seconds(50))
            let found = try await bench.storage.retries(of: id, due: .distantFuture, limit: .max)
            try require(found.map(\.dueAt), is: [60, 90, 950].map { bench.now + .seconds($0) })
            try require(found.map(\.member.channel.rawValue), is: [2, 1, 3])
        },
        Requirement("Retries of a hub after one outcome come at once, and no others") { bench in
            let (hub, other) = (try await bench.hub(), try await bench.hub("other"))
            var refused = [1, 2, 3].map { bench.retry($0, dueIn: 100 * $0) }
            for index in refused.indices { refused[index].outcome = .invalidCredentials }
            var ids: [Delivery.ID] = []
            for hub in [hub, other] {
                ids.append(try await bench.accept(hub).id)
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: ids[ids.count - 1], isFannedOut: true, state: .processing,
                        retries: refused + [bench.retry(4, dueIn: 50)]))
            }
            func expedite(_ limit: Int) async throws -> Int {
                try await bench.storage.expediteRetries(
                    after: .invalidCredentials, in: hub, at: bench.now + .seconds(10), limit: limit)
            }
            try require(try await expedite(2), is: 2)
            try require(try await expedite(2), is: 1)
            try require(try await expedite(2), is: 0)
            let found = try await bench.storage.retries(of: ids[0], due: .distantFuture, limit: .max)
            try require(found.map(\.dueAt), is: [10, 10, 10, 50].map { bench.now + .seconds($0) })
            let left = try await bench.storage.retries(of: ids[1], due: .distantFuture, limit: .max)
            try require(left.map(\.dueAt), is: [50, 100, 200, 300].map { bench.now + .seconds($0) })
        },
        Requirement("A step of a delivery that is gone with its hub does nothing") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            _ = try await bench.storage.deleteHub(hub)
            let step = DeliveryStep(
                delivery: accepted.id, isFannedOut: true, state: .processing, counts: [.success: 1],
                refusals: [
                    Refusal(
                        member: AudienceMember(channel: ChannelID(rawValue: 1)), handle: PushHandle("a"),
                        outcome: .badChannel, reason: "x", at: bench.now)
                ], retries: [bench.retry(1, dueIn: 1)])
            try require(try await bench.storage.record(step), is: false)
            try require(try await bench.storage.nextRetry(of: accepted.id), is: nil)
            try require(try await bench.unfinished(), is: [])
        },
        Requirement("Refusals are listed in pages, with what they were about even when that is gone") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "$(a)")
            for number in 1...3 {
                try await bench.put("\(number)", "h\(number)", in: hub)
                try await bench.put("t\(number)", "h\(number)", in: hub, template: template)
                try await bench.put(
                    "other\(number)", "h\(number)", in: hub, on: bench.otherPlatform, template: template)
            }
            let content = Notification.Content.template(properties: Array("{}".utf8))
            let templates = try await bench.accepted(bench.notificationDraft(hub, content))
            for delivery in templates.deliveries {
                try await bench.refuse(try await bench.templateMembers(of: delivery), of: delivery)
            }
            let native = try await bench.accept(hub)
            try await bench.refuse(
                try await bench.audience(hub).channels.map { AudienceMember(channel: $0) }, of: native)
            let direct = try await bench.accept(hub, to: .direct([PushHandle("x")]))
            try await bench.refuse([AudienceMember(channel: .none, registration: 1)], of: direct)
            let gone = try await bench.audience(hub).channels.map {
                ChannelFeedback(channel: $0, kind: .gone(asOf: nil))
            }
            _ = try await bench.storage.apply(gone, in: hub, at: bench.now)
            let page = try await bench.refusals(of: templates.notification, in: hub, pageSize: 4)
            try require(page.map(\.registration), is: ["other1", "other2", "other3", "t1", "t2", "t3"])
            try require(page.prefix(3).map(\.platform), is: Array(repeating: bench.otherPlatform, count: 3))
            let natives = try await bench.refusals(of: native.notification, in: hub, pageSize: 1)
            try require(natives.map(\.registration), is: ["1", "2", "3"])
            try require(natives.map(\.handle), is: (1...3).map { PushHandle("to\($0)") })
            try require(natives.map(\.reason), is: ["Gone", "Gone", "Gone"])
            try require(natives.map(\.at), is: [bench.now, bench.now, bench.now])
            let directs = try await bench.refusals(of: direct.notification, in: hub, pageSize: 1)
            try require(directs.map(\.registration), is: [nil])
            try require(directs.map(\.handle), is: [PushHandle("to1")])
            let elsewhere = try await bench.refusals(
                of: native.notification, in: try await bench.hub("elsewhere"), pageSize: 1)
            try require(elsewhere.count, is: 0)
            _ = try await bench.accept(hub)
            let ids = [templates.notification.id, native.notification.id, direct.notification.id].sorted()
            try require(try await bench.storage.refused(in: hub, after: nil, limit: 2), is: Array(ids.prefix(2)))
            try require(try await bench.storage.refused(in: hub, after: ids[1], limit: 2), is: [ids[2]])
        },
    ]
}
