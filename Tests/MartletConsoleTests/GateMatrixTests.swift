import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletConsole

/// Every route × role × freshness, and every change × origin.
struct GateMatrixTests {
    /// The least that each route asks, written down a second time: who widens a right must do so here too.
    private static let needs: [String: String] = [
        "POST /link": "nobody", "POST /link/use": "nobody", "POST /sign-in": "nobody",
        "GET /sign-in": "nobody", "POST /sign-in/provider": "nobody", "POST /sign-in/provider/finish": "nobody",
        "POST /sign-out": "nobody",
        "GET /session": "any", "POST /session/touch": "any", "POST /session/confirm": "any",
        "PUT /session/settings": "any", "PUT /session/password": "any", "GET /sessions": "any",
        "DELETE /sessions/{session}": "any", "GET /alerts": "any", "GET /now": "any", "GET /metrics/history": "any",
        "GET /events": "any", "GET /openapi.json": "any", "GET /hubs": "any", "GET /server": "any",
        "GET /hubs/{hub}": "viewer@", "GET /hubs/{hub}/limits": "viewer@", "GET /hubs/{hub}/services": "viewer@",
        "GET /hubs/{hub}/jobs": "viewer@", "GET /hubs/{hub}/jobs/{job}/failed": "admin@",
        "GET /backups": "admin", "POST /backups": "admin", "POST /backups/{backup}/verify": "admin",
        "GET /backups/{backup}": "admin fresh",
        "GET /hubs/{hub}/tags": "viewer@", "GET /hubs/{hub}/tags/prefixes": "viewer@",
        "GET /hubs/{hub}/audience": "viewer@", "GET /hubs/{hub}/sends": "viewer@",
        "GET /hubs/{hub}/sends/{id}": "viewer@",
        "GET /hubs/{hub}/messages/{id}/status": "viewer@", "GET /hubs/{hub}/messages/{id}/funnel": "viewer@",
        "GET /hubs/{hub}/messages/{id}/deadletters": "viewer@",
        "GET /hubs/{hub}/messages/{id}/devices/{device}": "viewer@", "GET /hubs/{hub}/deadletters": "viewer@",
        "GET /hubs/{hub}/messages/{id}/deadletters/reasons": "viewer@", "GET /hubs/{hub}/campaigns": "viewer@",
        "POST /hubs/{hub}/campaigns": "sender@",
        "GET /hubs/{hub}/campaigns/{id}": "sender@", "PUT /hubs/{hub}/campaigns/{id}": "sender@",
        "PUT /hubs/{hub}/campaigns/{id}/send": "sender@", "DELETE /hubs/{hub}/campaigns/{id}": "sender@",
        "GET /rest/{hub}/sending": "sender@",
        "PUT /rest/{hub}/sending": "sender@",
        "POST /hubs/{hub}/devices/search": "viewer@", "POST /hubs/{hub}/devices/former": "viewer@",
        "GET /hubs/{hub}/devices/{id}": "viewer@",
        "GET /hubs/{hub}/devices/{id}/sends": "viewer@",
        "POST /hubs/{hub}/messages/{id}/deadletters/resend": "sender@",
        "POST /hubs/{hub}/messages/{id}/pause": "sender@", "POST /hubs/{hub}/messages/{id}/resume": "sender@",
        "POST /hubs/{hub}/messages/{id}/cancel": "sender@", "POST /rest/{hub}/messages": "sender@",
        "POST /rest/{hub}/schedulednotifications": "sender@", "PUT /rest/{hub}/schedulednotifications/{id}": "sender@",
        "DELETE /rest/{hub}/schedulednotifications/{id}": "sender@",
        "PUT /hubs/{hub}/limits": "admin@", "PUT /hubs/{hub}/credentials/{platform}": "admin@",
        "POST /hubs/{hub}/credentials/{platform}/generate": "admin@",
        "DELETE /hubs/{hub}/credentials/{platform}": "admin@ fresh", "GET /hubs/{hub}/keys": "admin@ fresh",
        "POST /hubs/{hub}/keys/{rule}/{key}": "admin@ fresh", "PUT /rest/{hub}/installations/{id}": "admin@",
        "GET /rest/{hub}/installations/{id}": "admin@", "DELETE /rest/{hub}/installations/{id}": "admin@",
        "DELETE /rest/{hub}/registrations/{id}": "admin@",
        "PUT /hubs/{hub}": "admin", "DELETE /hubs/{hub}": "admin fresh", "GET /operators": "admin",
        "POST /operators": "admin fresh", "PUT /operators/{name}/roles": "admin fresh",
        "PUT /operators/{name}/disabled": "admin fresh", "DELETE /operators/{name}/sessions": "admin fresh",
        "DELETE /operators/{name}/factor": "admin fresh", "GET /session/factor": "any",
        "POST /session/factor": "any fresh", "POST /session/factor/confirm": "any fresh",
        "POST /session/factor/remove": "any fresh",
        "GET /audit/operators": "admin", "GET /audit": "admin", "GET /users": "sender",
        "PUT /users/{name}": "admin fresh",
        "GET /users/{name}": "sender", "DELETE /users/{name}/sessions": "admin fresh", "GET /server-key": "admin",
        "POST /server-key": "admin fresh", "POST /server-key/reseal": "admin", "DELETE /server-key": "admin fresh",
        "DELETE /users/{name}": "admin fresh", "PUT /users/{name}/roles/{role}": "admin",
        "DELETE /users/{name}/roles/{role}": "admin", "PUT /users/{name}/groups/{group}": "admin",
        "DELETE /users/{name}/groups/{group}": "admin", "GET /simulator/{path...}": "admin",
        "POST /simulator/{path...}": "admin", "PUT /simulator/{path...}": "admin",
        "DELETE /simulator/{path...}": "admin",
    ]

    private static let callers: [[String]] = [
        ["viewer"], ["sender"], ["admin"], ["viewer@shop"], ["sender@shop"], ["admin@shop"], ["admin@other"],
        ["admin@other", "viewer@shop"],
    ]

    @Test func everyRouteIsInTheTable() async throws {
        let bench = try await ConsoleBench()
        #expect(Set(bench.console.routes.map(\.name)) == Set(Self.needs.keys))
        #expect(bench.console.routes.count == Self.needs.count)
    }

    @Test func everyRouteAdmitsExactlyTheRolesOfTheTable() async throws {
        let bench = try await ConsoleBench()
        var cells = 0
        for (number, roles) in Self.callers.enumerated() {
            let grants = RoleGrants(roles.compactMap { RoleGrant($0) })
            for isFresh in [true, false] {
                for route in bench.console.routes {
                    let need = try #require(Self.needs[route.name])
                    let session = OperatorSession(
                        tokenHash: [1], operatorName: "ops", createdAt: bench.time.now, usedAt: bench.time.now,
                        confirmedAt: Timestamp(milliseconds: bench.time.now.milliseconds - (isFresh ? 0 : 600_000)),
                        address: "", agent: "")
                    let entry = Operator(name: "ops", roles: grants, createdAt: bench.time.now)
                    let hub = route.pattern.contains("{hub}") ? "shop" : nil
                    let wanted = Self.isAdmitted(need, grants, isFresh: isFresh)
                    let isAdmitted = Self.gateAdmits(route.need, hub, (session, entry), at: bench.time.now)
                    #expect(isAdmitted == wanted, "\(route.name) for \(roles), fresh: \(isFresh), caller \(number)")
                    cells += 1
                }
            }
        }
        #expect(cells == Self.callers.count * 2 * Self.needs.count)
    }

    private static func gateAdmits(
        _ need: RouteNeed, _ hub: String?, _ session: (OperatorSession, Operator), at now: Timestamp
    ) -> Bool {
        do throws(ConsoleRefusal) {
            _ = try ConsoleGate.admit(need, hub: hub, session, at: now)
            return true
        } catch {
            return false
        }
    }

    /// The rule, from the words of the table alone.
    private static func isAdmitted(_ need: String, _ grants: RoleGrants, isFresh: Bool) -> Bool {
        let words = need.split(separator: " ")
        if words.contains("fresh"), !isFresh { return false }
        switch words[0] {
        case "nobody", "any": return true
        case let word where word.hasSuffix("@"):
            guard let role = Role(rawValue: String(word.dropLast())), let own = grants.role(for: "shop") else {
                return false
            }
            return own >= role
        case let word:
            guard let role = Role(rawValue: String(word)), let own = grants.overall else { return false }
            return own >= role
        }
    }

    /// The path of a route with something in the place of each parameter.
    private static func path(_ route: ConsoleRoute) -> String {
        let segments = route.pattern.split(separator: "/").map { part in
            part == "{hub}" ? "shop" : part.hasPrefix("{") ? "x" : String(part)
        }
        return "/console/api/" + segments.joined(separator: "/")
    }

    @Test func withoutASessionEveryRouteButThoseForSigningInSaysSo() async throws {
        let bench = try await ConsoleBench()
        _ = try await bench.signIn("ops", "admin")
        let nobody = bench.administration.targets.count
        for route in bench.console.routes where route.need != .nobody {
            for cookie in [nil, "__Host-martlet-console=" + String(repeating: "A", count: 43)] {
                let answer = await bench.send(route.method, Self.path(route), cookie: cookie)
                #expect(answer.status == .unauthorized && answer.code == "signed-out", "\(route.name)")
            }
        }
        #expect(bench.administration.targets.count == nobody)
    }

    @Test func everyChangeFromAnotherOriginIsRefused() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        let attacks: [(String, HTTPStatus, @Sendable (inout HTTPRequest) -> Void)] = [
            (
                "another port", .forbidden,
                {
                    $0.fields["origin"] = "http://127.0.0.1:9999"
                    $0.fields["sec-fetch-site"] = "same-site"
                }
            ),
            (
                "another port, an old browser", .forbidden,
                {
                    $0.fields["origin"] = "http://127.0.0.1:9999"
                    $0.fields["sec-fetch-site"] = nil
                }
            ),
            (
                "another site", .forbidden,
                {
                    $0.fields["origin"] = "https://evil.example"
                    $0.fields["sec-fetch-site"] = "cross-site"
                }
            ),
            ("a typed address", .forbidden, { $0.fields["sec-fetch-site"] = "none" }),
            ("no origin", .forbidden, { $0.fields["origin"] = nil }),
            ("a sandboxed frame", .forbidden, { $0.fields["origin"] = "null" }),
            ("no field", .forbidden, { $0.fields["martlet-console"] = nil }),
            ("a form", 415, { $0.fields["content-type"] = "text/plain" }),
            ("no type", 415, { $0.fields["content-type"] = nil }),
            (
                "a rebound name", 421,
                {
                    $0.authority = "evil.example:8080"
                    $0.fields["origin"] = "http://evil.example:8080"
                }
            ),
            ("clear text from afar", .forbidden, { $0.connection?.peer = "192.0.2.1" }),
        ]
        let before = bench.administration.targets.count
        for route in bench.console.routes where route.method != .get {
            for (name, status, attack) in attacks {
                let answer = await bench.send(route.method, Self.path(route), cookie: cookie, changing: attack)
                #expect(answer.status == status, "\(route.name) from \(name): \(answer.status.code)")
            }
        }
        #expect(bench.administration.targets.count == before)
    }

    @Test func readsFromAnotherSiteOrInClearTextAreRefused() async throws {
        let bench = try await ConsoleBench()
        let cookie = try await bench.signIn("ops", "admin")
        for route in bench.console.routes where route.method == .get {
            for site in ["same-site", "cross-site"] {
                let answer = await bench.send(.get, Self.path(route), cookie: cookie) {
                    $0.fields["sec-fetch-site"] = site
                }
                #expect(answer.code == "cross-site", "\(route.name)")
            }
            let far = await bench.send(.get, Self.path(route), cookie: cookie) { $0.connection?.peer = "192.0.2.1" }
            #expect(far.code == "clear-text", "\(route.name)")
        }
    }
}
