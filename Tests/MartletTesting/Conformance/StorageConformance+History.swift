import MartletCore
import MartletModel

extension StorageConformance {
    static let history: [Requirement] = [
        Requirement("The state of a registration when a page was read is known after it was changed and removed") {
            bench in
            let hub = try await bench.hub()
            let first = try await bench.snapshot(hub)
            try await bench.put("1", "a", ["x"], in: hub)
            let second = try await bench.snapshot(hub)
            try await bench.put("1", "a", ["y"], in: hub, at: bench.now + .seconds(1))
            let third = try await bench.snapshot(hub)
            _ = try await bench.storage.apply(
                RegistrationChange.delete(id: "1", condition: .none), in: hub, at: bench.now + .seconds(2)
            ).get()
            let past = try await bench.storage.past(of: "1", in: hub)
            try require(past.tags(at: first), is: [])
            try require(past.tags(at: second), is: [["x"]])
            try require(past.tags(at: third), is: [["y"]])
            try require(past.tags(at: try await bench.snapshot(hub)), is: [])
            try require(past.versions.map(\.end?.cause), is: [.changed, .deleted])
            try require(past.versions.map(\.end?.at), is: [bench.now + .seconds(1), bench.now + .seconds(2)])
            try require(Set(past.versions.map(\.sequence)).count, is: 1)
            try require(past.versions.map(\.handle), is: [PushHandle("a"), PushHandle("a")])
            try require(past.versions.map(\.createdAt), is: [bench.now, bench.now])
        },
        Requirement("A registration that has another handle since its page was read is found there") { bench in
            let hub = try await bench.hub()
            for id in ["1", "2", "3"] { try await bench.put(id, "a\(id)", ["x"], in: hub) }
            try await bench.put("4", "a1", ["y"], in: hub)
            try await bench.put("t", "a1", ["x"], in: hub, template: Template(body: "$(a)"))
            let target = Notification.Target.audience(try TagExpression("x"))
            let delivery = try await bench.accepted(bench.notificationDraft(hub, to: target)).deliveries[0]
            let page = try await bench.audience(hub)
            var step = DeliveryStep(
                delivery: delivery.id, cursor: page.members.last, isFannedOut: true, state: .processing)
            step.range = RangeRecord(
                last: .end, snapshot: try await bench.snapshot(hub), startedAt: bench.now, endedAt: bench.now)
            step.retries = page.members.map {
                Retry(member: $0, attempts: 1, dueAt: bench.now, outcome: .channelThrottled, reason: "")
            }
            try await bench.storage.record(step)
            func successors(of members: [AudienceMember], present: [AudienceMember] = []) async throws -> Successors {
                try await bench.storage.successors(of: members, present: present, in: delivery, at: bench.now)
            }
            try require(try await successors(of: [], present: page.members), is: Successors())
            // Registrations 4 and t have no successors, because they did not make the channel a member: 4 did not match
            // the tag expression, and t has a template.
            for id in ["4", "1", "2"] { try await bench.put(id, "b\(id)", [id == "4" ? "y" : "x"], in: hub) }
            try await bench.put("t", "b1", ["x"], in: hub, template: Template(body: "$(a)"))
            let moved = try await successors(of: Array(page.members.prefix(2)), present: [page.members[2]]).moved
            try require(moved.map(\.member), is: Array(page.members.prefix(2)))
            try require(moved.map(\.others), is: moved.map { [AudienceMember(channel: $0.registration.channel)] })
            try require(moved.map(\.awaited), is: [nil, nil])
            var query = AudienceQuery(
                hub: hub, platform: delivery.platform, expression: try TagExpression("x"),
                throughChannel: ChannelID(rawValue: .max), limit: 10, now: bench.now)
            query.among = moved.map(\.registration).sorted()
            let found = try await bench.storage.audience(query)
            try require(found.members, is: moved.map(\.registration).sorted())
            try require((0..<found.count).map { found.handle($0) }, is: [PushHandle("b1"), PushHandle("b2")])
            // Registration 1 gets the handle of another member, and registration 2 is deleted.
            try await bench.put("1", "a3", ["x"], in: hub)
            _ = try await bench.storage.apply(
                RegistrationChange.delete(id: "2", condition: .none), in: hub, at: bench.now
            ).get()
            let last = try await successors(of: Array(page.members.prefix(2)), present: [page.members[2]]).moved
            try require(last.map(\.member), is: [page.members[0]])
            try require(last.map(\.registration.channel), is: [page.members[2].channel])
            try require(last.map(\.awaited), is: [AwaitedRetry(member: page.members[2], dueAt: bench.now)])
            // After this, only registration 1 keeps the member's channel in the audience. The member's own registration
            // has another channel.
            try await bench.put("3", "b3", ["x"], in: hub)
            let deserted = try await successors(of: [page.members[0]], present: [page.members[2]]).moved
            try require(deserted.map(\.member), is: [page.members[0], page.members[2]])
            try require(deserted.map(\.awaited), is: [nil, nil])
        },
        Requirement("A handle is known as reached though its channel is gone, unless its member was followed") {
            bench in
            let hub = try await bench.hub()
            for id in ["1", "2", "3"] { try await bench.put(id, "a\(id)", ["x"], in: hub) }
            let target = Notification.Target.audience(try TagExpression("x"))
            let native = try await bench.accepted(bench.notificationDraft(hub, to: target)).deliveries[0]
            let page = try await bench.audience(hub)
            var step = DeliveryStep(
                delivery: native.id, cursor: page.members.last, isFannedOut: true, state: .processing)
            step.range = RangeRecord(
                last: .end, snapshot: try await bench.snapshot(hub), startedAt: bench.now, endedAt: bench.now)
            try await bench.storage.record(step)
            // Registration 1 leaves its handle, and registration 2 takes that handle.
            try await bench.put("1", "b1", ["x"], in: hub)
            try await bench.put("2", "a1", ["x"], in: hub)
            func successor(of member: AudienceMember) async throws -> Successor? {
                let found = try await bench.storage.successors(of: [member], present: [], in: native, at: bench.now)
                return found.moved.first
            }
            let found = try require(try await successor(of: page.members[1]))
            try require(found.registration.channel == page.members[0].channel, is: false)
            try require(
                found.others, is: [page.members[0], AudienceMember(channel: found.registration.channel)].sorted())
            try require(found.isReached, is: false)
            // The push to the first member reached the new handle of registration 1, and not its former handle.
            let moved = try require(try await successor(of: page.members[0]))
            var followed = DeliveryStep(delivery: native.id, isFannedOut: true, state: .processing)
            followed.attempts = [
                Attempt(
                    member: page.members[0], number: 2, outcome: .success, reason: "", answer: nil, at: bench.now,
                    followed: moved.registration.channel)
            ]
            try await bench.storage.record(followed)
            try require(
                try await successor(of: page.members[1])?.others,
                is: [AudienceMember(channel: found.registration.channel)])
            // A registration that takes the handle that this push has reached gets no second push.
            try await bench.put("2", "b1", ["x"], in: hub)
            try require(try await successor(of: page.members[1])?.isReached, is: true)
            let there = AudienceMember(channel: moved.registration.channel)
            let reached = try await bench.storage.successors(
                of: [], present: [there, page.members[2]], in: native, at: bench.now
            ).reached
            try require(reached, is: [there])
        },
        Requirement("A registration with a template that takes a handle finds those that had it before") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "$(a)")
            for (id, handle) in [("1", "a"), ("2", "b"), ("3", "b")] {
                try await bench.put(id, handle, ["x"], in: hub, template: template)
            }
            let content = Notification.Content.template(properties: Array(#"{"a":"b"}"#.utf8))
            let delivery = try await bench.accept(hub, content)
            let members = try await bench.templateMembers(of: delivery)
            var step = DeliveryStep(delivery: delivery.id, cursor: members.last, isFannedOut: true, state: .processing)
            step.range = RangeRecord(
                last: .end, snapshot: try await bench.snapshot(hub), startedAt: bench.now, endedAt: bench.now)
            step.retries = [members[0], members[2]].map {
                Retry(member: $0, attempts: 1, dueAt: bench.now, outcome: .channelThrottled, reason: "")
            }
            try await bench.storage.record(step)
            func successor(_ index: Int) async throws -> Successor? {
                let found = try await bench.storage.successors(
                    of: [members[index]], present: [], in: delivery, at: bench.now)
                return found.moved.first
            }
            // Registration 1 takes the handle while registrations 2 and 3 still have it.
            try await bench.put("1", "b", ["x"], in: hub, template: template)
            try require(try await successor(0)?.others, is: [members[1], members[2]])
            try require(
                try await successor(0)?.awaited, is: AwaitedRetry(member: members[2], dueAt: bench.now))
            // Registration 1 takes the handle again after registrations 2 and 3 have left it.
            try await bench.put("1", "c", ["x"], in: hub, template: template)
            for id in ["2", "3"] { try await bench.put(id, "d", ["x"], in: hub, template: template) }
            try await bench.put("1", "b", ["x"], in: hub, template: template)
            try require(try await successor(0)?.others, is: [members[1], members[2]])
            try require(try await successor(0)?.awaited, is: nil)
            // Registrations 2 and 3 belong to the same device, so registration 2 is not among the `others` of
            // registration 3.
            try require(try await successor(2)?.others, is: [])
        },
        Requirement("Only what decides is kept: repeated writes leave nothing") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "$(a)")
            for number in 0..<3 {
                try await bench.put(
                    "1", "a", number == 1 ? ["Y", "x"] : ["x", "y"], in: hub, template: template, variables: ["a": "b"],
                    expiresAt: bench.now + .seconds(Int64(100 + number)))
            }
            let past = try await bench.storage.past(of: "1", in: hub)
            try require(past.versions.count, is: 1)
            try require(past.versions[0].end, is: nil)
            try await bench.put("1", "a", ["x", "y"], in: hub, template: template, variables: ["a": "c"])
            try await bench.put("1", "a", ["x", "y"], in: hub, template: Template(body: "$(b)"), variables: ["a": "c"])
            try await bench.put("1", "b", ["x", "y"], in: hub, template: Template(body: "$(b)"), variables: ["a": "c"])
            let changed = try await bench.storage.past(of: "1", in: hub).versions
            try require(changed.map(\.pushVariables), is: [["a": "b"], ["a": "c"], ["a": "c"], ["a": "c"]])
            try require(changed.map(\.template?.body), is: ["$(a)", "$(a)", "$(b)", "$(b)"])
            try require(changed.map(\.handle.text), is: ["a", "a", "a", "b"])
            try require(changed[0].expiresAt, is: bench.now + .seconds(102))
            try require(changed[2].channel == changed[3].channel, is: false)
        },
        Requirement("It is told how a registration ended") { bench in
            let hub = try await bench.hub()
            try await bench.put("taken", "a", in: hub)
            try await bench.put("dead", "a", in: hub, takesHandle: true)
            try await bench.put("moved", "b", in: hub)
            let channels = try await bench.audience(hub).channels
            _ = try await bench.storage.apply(
                [
                    ChannelFeedback(channel: channels[0], kind: .gone(asOf: nil)),
                    ChannelFeedback(channel: channels[1], kind: .moved(PushHandle("c"), key: "c")),
                ], in: hub, at: bench.now)
            func ends(of id: String) async throws -> [RegistrationEnding?] {
                try await bench.storage.past(of: id, in: hub).versions.map(\.end?.cause)
            }
            try require(try await ends(of: "taken"), is: [.taken])
            try require(try await ends(of: "dead"), is: [.unregistered])
            try require(try await ends(of: "moved"), is: [.moved, nil])
            let moved = try await bench.storage.past(of: "moved", in: hub).versions
            try require(moved.map(\.handle.text), is: ["b", "c"])
            try require(try await ends(of: "unknown"), is: [])
            try require(try await bench.storage.past(of: "moved", in: bench.hub("other")).versions.count, is: 0)
        },
        Requirement("An installation is asked for by its id, with all its registrations") { bench in
            let hub = try await bench.hub()
            let native = try bench.draft("a", ["x"])
            let template = try bench.draft("a", ["x"], template: Template(body: "$(a)"))
            try await bench.put(bench.installation("i", ["native": native, "template": template]), in: hub)
            let whole = try await bench.snapshot(hub)
            try await bench.put(bench.installation("i", ["native": native]), in: hub)
            let part = try await bench.snapshot(hub)
            _ = try await bench.storage.apply(
                InstallationChange.delete(id: "i", condition: .none), in: hub, at: bench.now
            ).get()
            let past = try await bench.storage.past(of: "i", in: hub)
            try require(past.tags(at: whole), is: [["x"], ["x"]])
            try require(past.tags(at: part), is: [["x"]])
            try require(past.versions(at: part)[0].template == nil, is: true)
            try require(past.tags(at: try await bench.snapshot(hub)), is: [])
            try require(past.versions.map(\.installation), is: ["i", "i"])
            let row = past.versions[1].id
            try require(try await bench.storage.past(of: row, in: hub).versions.count, is: 1)
        },
    ]
}

extension RegistrationPast {
    fileprivate func tags(at snapshot: AudienceSnapshot) -> [[String]] {
        versions(at: snapshot).map { $0.tags.map(\.spelling) }
    }
}

extension StorageBench {
    fileprivate func snapshot(_ hub: Hub.ID) async throws -> AudienceSnapshot {
        try await storage.audience(
            AudienceQuery(
                hub: hub, platform: platform, expression: nil, throughChannel: ChannelID(rawValue: .max), limit: 1,
                now: now)
        ).snapshot
    }
}
