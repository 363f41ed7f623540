import MartletCore
import MartletModel

extension StorageConformance {
    static let deadLetters: [Requirement] = [
        Requirement("A resend is for whom the original did not reach, as far as they are still registered") { bench in
            let hub = try await bench.hub()
            for number in 1...5 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let original = try await bench.accept(hub)
            let members = try await bench.audience(hub).members
            try await bench.end(original, refusing: [0, 1, 2, 3].map { (members[$0], .badChannel) })
            // The first registration is deleted, the second gets a new handle, and another registration takes the
            // handle of the third.
            _ = try await bench.storage.apply(
                RegistrationChange.delete(id: "1", condition: .none), in: hub, at: bench.now)
            try await bench.put("2", "new", in: hub)
            try await bench.put("thief", "h3", in: hub, takesHandle: true)
            let resend = try await bench.resent(original)
            try require(resend.notification.resend?.outcome, is: nil)
            guard case .native(bench.platform, let message) = resend.notification.content,
                case .audience(nil) = resend.notification.target
            else { throw ConformanceFailure(description: "the content or the target has changed") }
            try require(message.body, is: [1])
            var found: [AudienceMember] = []
            var last = AudienceMember.none
            while true {
                let page = try await bench.storage.resendMembers(of: resend, after: last, limit: 1)
                found += page.members
                guard !page.isLast else { break }
                last = page.last
            }
            let now = try await bench.audience(hub)
            let wanted = ["new", "h4"].compactMap { handle in
                now.handles.firstIndex(of: handle).map { now.members[$0] }
            }
            try require(Set(found), is: Set(wanted))
            let open = try require(try await bench.storage.unfinished(after: .none, limit: 10).last)
            try require(open.delivery.notification.resend, is: resend.notification.resend)
        },
        Requirement("Dead letters are sent again once, by outcome or whatever is left") { bench in
            let hub = try await bench.hub()
            for number in 1...3 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let original = try await bench.accept(hub)
            let id = original.notification.id
            let members = try await bench.audience(hub).members
            guard case .underWay = try await bench.resend(id, in: hub) else {
                throw ConformanceFailure(description: "what is under way is not sent again")
            }
            try await bench.end(
                original, refusing: [(members[0], .badChannel), (members[1], .wrongToken), (members[2], .badChannel)])
            guard case .notFound = try await bench.resend(id, in: try await bench.hub("other")),
                case .nothing = try await bench.resend(id, .throttled, in: hub)
            else { throw ConformanceFailure(description: "there is nothing of the kind") }
            let some = try await bench.resent(original, .badChannel)
            let rest = try await bench.resent(original)
            try require(try await bench.members(of: some), is: [members[0], members[2]])
            try require(try await bench.members(of: rest), is: [members[1]])
            for outcome in [OutcomeName.badChannel, .wrongToken, nil] {
                guard case .resent = try await bench.resend(id, outcome, in: hub) else {
                    throw ConformanceFailure(description: "it was sent again twice")
                }
            }
            let records = try await bench.storage.resends(of: id, in: hub)
            try require(
                records,
                is: [
                    ResendRecord(id: some.notification.id, outcome: .badChannel),
                    ResendRecord(id: rest.notification.id, outcome: nil),
                ])
        },
        Requirement("Templates and direct sends are sent again to their own members") { bench in
            let hub = try await bench.hub()
            let template = Template(body: "$(a)")
            for number in 1...2 { try await bench.put("t\(number)", "h\(number)", in: hub, template: template) }
            let content = Notification.Content.template(properties: Array("{}".utf8))
            let templates = try await bench.accept(hub, content)
            let members = try await bench.templateMembers(of: templates)
            try await bench.end(templates, refusing: [(members[1], .invalidNotificationSize)])
            try require(try await bench.members(of: try await bench.resent(templates)), is: [members[1]])
            let direct = try await bench.accept(hub, to: .direct([PushHandle("x"), PushHandle("y")]))
            let index = AudienceMember(channel: .none, registration: 2)
            try await bench.end(direct, refusing: [(index, .pnsInterfaceError)])
            try require(try await bench.members(of: try await bench.resent(direct)), is: [index])
        },
        Requirement("A notification that reached all devices has nothing to resend") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "h1", in: hub)
            let original = try await bench.accept(hub)
            try await bench.end(original, refusing: [])
            guard case .nothing = try await bench.resend(original.notification.id, in: hub) else {
                throw ConformanceFailure(description: "there is nothing to send again")
            }
            try require(try await bench.unfinished(), is: [])
        },
    ]
}

extension StorageBench {
    func accept(_ hub: Hub.ID, _ content: Notification.Content) async throws -> Delivery {
        let deliveries = try await accepted(notificationDraft(hub, content)).deliveries
        return try require(deliveries.first)
    }

    /// Ends a delivery, and records refusals of some of its members.
    func end(_ delivery: Delivery, refusing members: [(AudienceMember, OutcomeName)]) async throws {
        let refusals = members.map { member, outcome in
            Refusal(member: member, handle: PushHandle("to"), outcome: outcome, reason: "Gone", at: now)
        }
        try await storage.record(
            DeliveryStep(
                delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now, refusals: refusals))
    }

    func resend(
        _ id: NotificationID, _ outcome: OutcomeName? = nil, in hub: Hub.ID
    ) async throws -> ResendAcceptance {
        try await storage.resend(
            ResendDraft(
                id: NotificationID(at: now), hub: hub, original: id, outcome: outcome, acceptedAt: now,
                expiresAt: now + .seconds(60)))
    }

    /// Asks for a resend that must be accepted, and returns its delivery.
    func resent(_ original: Delivery, _ outcome: OutcomeName? = nil) async throws -> Delivery {
        let notification = original.notification
        guard case .accepted(_, let deliveries) = try await resend(notification.id, outcome, in: notification.hub),
            let delivery = deliveries.first
        else { throw ConformanceFailure(description: "dead letters were not accepted") }
        return delivery
    }

    func members(of resend: Delivery) async throws -> [AudienceMember] {
        try await storage.resendMembers(of: resend, after: .none, limit: 100).members
    }
}
