import MartletCore
import MartletModel

extension StorageConformance {
    static let operators: [Requirement] = [
        Requirement("An operator is found whatever the case, and a second invitation leaves the account") { bench in
            try require(try await bench.storage.hasOperators(), is: false)
            try await bench.invite("Ops", "admin", token: 1)
            try await bench.invite("oPS", "viewer", token: 2)
            try require(try await bench.storage.hasOperators(), is: true)
            let entry = try require(try await bench.storage.operator("OPS"))
            try require([entry.name] + entry.roles.texts, is: ["Ops", "admin"])
            try require(try await bench.storage.operator("nobody") == nil, is: true)
        },
        Requirement("A link is used once, and only before it ends") { bench in
            try await bench.invite("ops", "admin", token: 1)
            let late = bench.operatorSession(7, of: "ops", at: bench.now + .seconds(901))
            try require(
                try await bench.storage.useLink(tokenHash: [1], passwordHash: "p", adding: late) == nil, is: true)
            let session = bench.operatorSession(8, of: "ops", at: bench.now)
            let entry = try await bench.storage.useLink(tokenHash: [1], passwordHash: "p", adding: session)
            try require(entry?.passwordHash, is: "p")
            try require(try await bench.storage.operatorSession(tokenHash: [8])?.1.name, is: "ops")
            try require(
                try await bench.storage.useLink(tokenHash: [1], passwordHash: "q", adding: session) == nil, is: true)
        },
        Requirement("A new link of a kind takes the place of the earlier one") { bench in
            try await bench.invite("ops", "admin", token: 1)
            try require(try await bench.storage.addLink(bench.link(2, .signIn, of: "ops")), is: true)
            try require(try await bench.storage.addLink(bench.link(3, .invitation, of: "OPS")), is: true)
            try require(try await bench.storage.link(tokenHash: [1], at: bench.now) == nil, is: true)
            try require(try await bench.storage.link(tokenHash: [2], at: bench.now)?.0.kind, is: .signIn)
            try require(try await bench.storage.link(tokenHash: [3], at: bench.now)?.0.kind, is: .invitation)
            try require(try await bench.storage.addLink(bench.link(4, .signIn, of: "nobody")), is: false)
        },
        Requirement("A session is opened only with the current password of an operator who is not disabled") { bench in
            try await bench.signUp("ops", "admin")
            try await bench.signUp("other", "admin")
            let session = bench.operatorSession(9, of: "ops", at: bench.now)
            try require(try await bench.storage.addSession(session, ofPassword: "old"), is: false)
            try require(try await bench.storage.addSession(session, ofPassword: "p"), is: true)
            _ = try await bench.storage.change("ops", .isDisabled(true))
            try require(try await bench.storage.operatorSession(tokenHash: [9]) == nil, is: true)
            try require(try await bench.storage.addSession(session, ofPassword: "p"), is: false)
        },
        Requirement("Beyond the most sessions of an operator, the one used longest ago ends") { bench in
            try await bench.signUp("ops", "admin")
            for number in 0..<OperatorSession.countLimit {
                let session = bench.operatorSession(UInt8(100 + number), of: "ops", at: bench.now + .seconds(number))
                _ = try await bench.storage.addSession(session, ofPassword: "p")
            }
            try require(try await bench.storage.operatorSessions(of: "OPS").count, is: OperatorSession.countLimit)
            try await bench.storage.touchSession(tokenHash: [100], at: bench.now + .seconds(1000), isConfirmed: true)
            let last = bench.operatorSession(99, of: "ops", at: bench.now + .seconds(1001))
            _ = try await bench.storage.addSession(last, ofPassword: "p")
            try require(try await bench.storage.operatorSession(tokenHash: [101]) == nil, is: true)
            let touched = try require(try await bench.storage.operatorSession(tokenHash: [100])).0
            try require(
                [touched.usedAt, touched.confirmedAt], is: [bench.now + .seconds(1000), bench.now + .seconds(1000)])
        },
        Requirement("A person of an identity provider is one operator, with the roles of the last visit") { bench in
            let first = try await bench.visit("s1", ["ada"], [RoleGrant(.sender, hub: "shop")], token: 11)
            try require(first?.0.name, is: "ada")
            try require(first?.0.identity, is: OperatorIdentity(issuer: "https://id.example", subject: "s1"))
            try require(try await bench.storage.operatorSession(tokenHash: [11])?.1.roles.texts, is: ["sender@shop"])
            let second = try await bench.visit("s1", ["other"], [RoleGrant(.viewer)], token: 12)
            try require(second?.0.name, is: "ada")
            try require(second?.0.roles.texts, is: ["viewer"])
            try require(try await bench.storage.operators(at: bench.now).count, is: 1)
        },
        Requirement("A name that somebody has is not given to a person of an identity provider") { bench in
            try await bench.signUp("ops", "admin")
            let first = try await bench.visit("s1", ["OPS", "ops-1"], [RoleGrant(.viewer)], token: 11)
            try require(first?.0.name, is: "ops-1")
            try require(try await bench.storage.operator("ops")?.identity == nil, is: true)
            let none = try await bench.visit("s2", ["ops", "Ops-1"], [RoleGrant(.viewer)], token: 12)
            try require(none == nil, is: true)
            try require(try await bench.storage.operatorSession(tokenHash: [12]) == nil, is: true)
        },
        Requirement("A person whom the provider gives no role, or who is disabled, has no session") { bench in
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 11)
            try require(try await bench.visit("s1", ["ada"], [], token: 12) == nil, is: true)
            for token in [11, 12] as [UInt8] {
                try require(try await bench.storage.operatorSession(tokenHash: [token]) == nil, is: true)
            }
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 13)
            _ = try await bench.storage.change("ada", .isDisabled(true))
            try require(try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 14) == nil, is: true)
            for token in [13, 14] as [UInt8] {
                try require(try await bench.storage.operatorSession(tokenHash: [token]) == nil, is: true)
            }
        },
        Requirement("A visit confirms the operator's own session, and nobody else's") { bench in
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 11)
            let later = bench.now + .seconds(900)
            let again = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 12, at: later, confirming: 11)
            try require(again?.1.tokenHash, is: [11])
            let confirmed = try await bench.storage.operatorSession(tokenHash: [11])?.0
            try require(confirmed?.confirmedAt, is: later)
            try require(confirmed?.createdAt, is: bench.now)
            try require(try await bench.storage.operatorSession(tokenHash: [12]) == nil, is: true)
            _ = try await bench.visit("s2", ["bo"], [RoleGrant(.viewer)], token: 13, confirming: 11)
            try require(try await bench.storage.operatorSession(tokenHash: [13])?.1.name, is: "bo")
        },
        Requirement("Other roles of the provider end the sessions that began with the former ones") { bench in
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 11)
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 12)
            let raised = try await bench.visit("s1", ["ada"], [RoleGrant(.admin)], token: 13, confirming: 11)
            try require(raised?.1.tokenHash, is: [13])
            for token in [11, 12] as [UInt8] {
                try require(try await bench.storage.operatorSession(tokenHash: [token]) == nil, is: true)
            }
            try require(try await bench.storage.operatorSession(tokenHash: [13])?.1.roles.texts, is: ["admin"])
        },
        Requirement("A link does not open the account of a person of an identity provider") { bench in
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 11)
            _ = try await bench.storage.addLink(bench.link(21, .signIn, of: "ada"))
            try require(try await bench.storage.link(tokenHash: [21], at: bench.now) == nil, is: true)
        },
        Requirement("No operator is added beyond the most") { bench in
            _ = try await bench.visit("s1", ["ada"], [RoleGrant(.viewer)], token: 11)
            let second = try await bench.visit("s2", ["bo"], [RoleGrant(.viewer)], token: 12, countLimit: 1)
            try require(second == nil, is: true)
            let again = try await bench.visit("s1", [], [RoleGrant(.viewer)], token: 13, countLimit: 1)
            try require(again != nil, is: true)
        },
        Requirement("The last operator who may administer the server stays") { bench in
            try await bench.signUp("ops", "admin")
            // An administrator who has not accepted the invitation yet does not count.
            try await bench.invite("invited", "admin", token: 5)
            let viewer = RoleGrants([RoleGrant(.viewer)])
            for change in [OperatorChange.roles(viewer), .isDisabled(true)] {
                guard case .isLastAdmin = try await bench.storage.change("ops", change) else {
                    throw ConformanceFailure(description: "The last admin was changed by \(change)")
                }
            }
            try await bench.signUp("second", "admin")
            guard case .changed(let entry) = try await bench.storage.change("ops", .roles(viewer)) else {
                throw ConformanceFailure(description: "An admin beside another could not be changed")
            }
            try require(entry.roles.texts, is: ["viewer"])
        },
        Requirement("Other roles end the sessions of an operator, and the same roles end none") { bench in
            try await bench.signUp("ops", "admin")
            try await bench.signUp("kim", "viewer")
            for (token, name) in [(UInt8(21), "kim"), (22, "kim"), (23, "ops")] {
                let session = bench.operatorSession(token, of: name, at: bench.now)
                try require(try await bench.storage.addSession(session, ofPassword: "p"), is: true)
            }
            _ = try await bench.storage.change("kim", .roles(RoleGrants([RoleGrant(.viewer)])))
            try require(try await bench.storage.operatorSessions(of: "kim").count, is: 2)
            _ = try await bench.storage.change("Kim", .roles(RoleGrants([RoleGrant(.sender)])))
            try require(try await bench.storage.operatorSessions(of: "kim").count, is: 0)
            try require(try await bench.storage.operatorSessions(of: "ops").count, is: 1)
        },
        Requirement("The audit log is read newest first, with the answers that were recorded") { bench in
            for number in 1...3 {
                let action = OperatorAction(
                    at: bench.now, operatorName: number == 2 ? "b" : "a", address: "::1", role: "admin",
                    action: "PUT /\(number)", hub: "shop", subject: "s")
                let id = try await bench.storage.begin(action)
                if number > 1 {
                    let made = number == 3 ? "made" : nil
                    try await bench.storage.end(id, answer: 200 + number, subject: made)
                }
            }
            let all = try await bench.storage.actions(OperatorActionQuery(limit: 2))
            try require(all.map(\.1.answer), is: [203, 202])
            try require(all.map(\.1.subject), is: ["made", "s"])
            let rest = try await bench.storage.actions(OperatorActionQuery(before: all.last?.0, limit: 2))
            try require(rest.map(\.1.action), is: ["PUT /1"])
            try require(rest.map(\.1.answer), is: [nil])
            let own = try await bench.storage.actions(OperatorActionQuery(operatorName: "b", limit: 9))
            try require(own.map(\.1.action), is: ["PUT /2"])
        },
        Requirement("Only ended sessions and links are swept") { bench in
            try await bench.signUp("ops", "admin")
            _ = try await bench.storage.addLink(bench.link(3, .signIn, of: "ops"))
            _ = try await bench.storage.addSession(bench.operatorSession(9, of: "ops", at: bench.now), ofPassword: "p")
            try await bench.storage.sweepOperators(at: bench.now + .seconds(60), limit: 100)
            try require(try await bench.storage.link(tokenHash: [3], at: bench.now) != nil, is: true)
            try await bench.storage.sweepOperators(at: bench.now + .seconds(13 * 3600), limit: 100)
            try require(try await bench.storage.link(tokenHash: [3], at: bench.now) == nil, is: true)
            try require(try await bench.storage.operatorSession(tokenHash: [9]) == nil, is: true)
        },
        Requirement("A second factor is asked for once it is confirmed, and a step is used once") { bench in
            try await bench.signUp("ops", "admin")
            let storage = bench.storage
            try require(try await storage.beginFactor([1], of: "nobody"), is: false)
            try require(try await storage.beginFactor([1, 1], of: "OPS"), is: true)
            try require(try await storage.beginFactor([2, 2], of: "ops"), is: true)
            try require(try await storage.operator("ops")?.hasFactor, is: false)
            try require(try await storage.useFactor(of: "ops", step: 1), is: false)
            let stale = try await storage.confirmFactor([1, 1], of: "ops", step: 7, recoveryCodes: [], at: bench.now)
            try require(stale, is: false)
            let isConfirmed = try await storage.confirmFactor(
                [2, 2], of: "Ops", step: 7, recoveryCodes: [[8], [9]], at: bench.now)
            try require(isConfirmed, is: true)
            let factor = try require(try await storage.factor(of: "OPS"))
            try require([Int64(factor.recoveryCodes), factor.lastStep], is: [2, 7])
            try require(factor.secret, is: [2, 2])
            try require(try await storage.operator("ops")?.hasFactor, is: true)
            try require(try await storage.beginFactor([3, 3], of: "ops"), is: false)
            for (step, isNew) in [(7, false), (8, true), (8, false), (6, false)] as [(Int64, Bool)] {
                try require(try await storage.useFactor(of: "ops", step: step), is: isNew)
            }
            for (code, isThere) in [([9], true), ([9], false), ([7], false)] as [([UInt8], Bool)] {
                try require(try await storage.useRecoveryCode(code, of: "ops"), is: isThere)
            }
            try require(try await storage.removeFactor(of: "ops"), is: true)
            try require(try await storage.removeFactor(of: "nobody"), is: false)
            try require(try await storage.factor(of: "ops") == nil, is: true)
            try require(try await storage.useRecoveryCode([8], of: "ops"), is: false)
            try require(try await storage.operator("ops")?.hasFactor, is: false)
        },
        Requirement("Hours of figures are replaced and read in order") { bench in
            let hour = Timestamp(seconds: 3600 * 400_000)
            try await bench.storage.putHour(hour + .seconds(3600), figures: "{\"a\":2}")
            try await bench.storage.putHour(hour, figures: "{}")
            try await bench.storage.putHour(hour, figures: "{\"a\":1}")
            let found = try await bench.storage.hours(since: hour)
            try require(found.map(\.1), is: ["{\"a\":1}", "{\"a\":2}"])
            try require(try await bench.storage.hours(since: hour + .seconds(1)).count, is: 1)
        },
    ]
}

extension StorageBench {
    fileprivate func link(_ token: UInt8, _ kind: OperatorLink.Kind, of name: String) -> OperatorLink {
        OperatorLink(tokenHash: [token], kind: kind, operatorName: name, expiresAt: now + .seconds(900))
    }

    /// Signs in a person of an identity provider.
    /// - Returns: The operator and the session; nil if the person was not admitted.
    fileprivate func visit(
        _ subject: String, _ names: [String], _ roles: [RoleGrant], token: UInt8, at time: Timestamp? = nil,
        confirming confirmed: UInt8? = nil, countLimit: Int = 1000
    ) async throws -> (Operator, OperatorSession)? {
        let visit = ProviderVisit(
            identity: OperatorIdentity(issuer: "https://id.example", subject: subject), names: names,
            roles: RoleGrants(roles), countLimit: countLimit)
        let session = operatorSession(token, of: "", at: time ?? now)
        switch try await storage.enter(visit, adding: session, orConfirming: confirmed.map { [$0] }) {
        case .entered(let entry, let session): return (entry, session)
        case .noRole, .disabled, .tooMany: return nil
        }
    }

    fileprivate func operatorSession(_ token: UInt8, of name: String, at time: Timestamp) -> OperatorSession {
        OperatorSession(
            tokenHash: [token], operatorName: name, createdAt: time, usedAt: time, confirmedAt: time, address: "::1",
            agent: "test")
    }

    fileprivate func invite(_ name: String, _ role: String, token: UInt8) async throws {
        let roles = RoleGrants([try require(RoleGrant(role))])
        try await storage.invite(
            Operator(name: name, roles: roles, createdAt: now), by: link(token, .invitation, of: name))
    }

    /// Adds an operator whose password has the hash `p`, and who has no session.
    fileprivate func signUp(_ name: String, _ role: String) async throws {
        try await invite(name, role, token: 200)
        let session = operatorSession(201, of: name, at: now)
        _ = try await storage.useLink(tokenHash: [200], passwordHash: "p", adding: session)
        _ = try await storage.removeOperatorSession(tokenHash: [201])
    }
}
