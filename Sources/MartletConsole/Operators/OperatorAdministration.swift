import MartletCore
public import MartletHTTP
import MartletModel

/// The part of the administration API that manages the console's operators.
///
/// | request | answer |
/// |---|---|
/// | `GET /operators` | 200 `[{"name", "roles", "isDisabled", "hasPassword", "hasFactor", "issuer", "createdAt", "signedInAt", "sessions", "invitedUntil"}]` |
/// | `POST /operators` `{"name", "roles": ["sender@shop"]}` | 201 `{"name", "roles", "link", "expiresAt"}` |
/// | `POST /operators/link` `{"name"}` | 201 `{"name", "link", "expiresAt"}`: whoever opens the link is signed in |
/// | `PUT /operators/{name}/roles` `{"roles"}` | 200, the operator |
/// | `PUT /operators/{name}/disabled` `{"disabled"}` | 200, the operator |
/// | `DELETE /operators/{name}/sessions` | 204 |
/// | `DELETE /operators/{name}/factor` | 204: no second factor is asked for any more, and all sessions have ended |
/// | `GET /audit/operators[?operator][&before][&limit]` | 200 `{"entries", "next"}` |
public struct OperatorAdministration: Sendable {
    private static let bodyLimit = 16_384

    private let directory: OperatorDirectory
    /// The origin of the console, used in links, such as `https://push.example.com`.
    private let origin: String
    private let answered: @Sendable (HTTPResponse) -> HTTPResponse

    /// Creates the part of the administration API.
    /// - Parameters:
    ///   - origin: The origin of the console, used in links.
    ///   - answered: Completes an answer that contains a link, for example with advice about its address.
    public init(
        _ directory: OperatorDirectory, origin: String,
        answered: @escaping @Sendable (HTTPResponse) -> HTTPResponse = { $0 }
    ) {
        self.directory = directory
        self.origin = origin
        self.answered = answered
    }

    public func addRoutes(to router: inout Router) {
        router.on(.get, "/operators") { _, _ in
            await answer { () throws(OperatorError) in
                HTTPResponse(.ok, consoleJSON: .array(try await directory.list().map(Self.json)))
            }
        }
        router.on(.post, "/operators/link", bodyLimit: Self.bodyLimit) { request, _ in
            await answer { () throws(OperatorError) in
                let body = try? JSON(parsing: request.body)
                let link = try await directory.signInLink(body?["name"]?.string)
                return answered(
                    HTTPResponse(.created, consoleJSON: .object(self.link(link.name, link.token, link.until))))
            }
        }
        router.on(.post, "/operators", bodyLimit: Self.bodyLimit) { request, _ in
            await answer { () throws(OperatorError) in
                let body = try? JSON(parsing: request.body)
                guard let name = body?["name"]?.string else { throw .badName }
                let roles = try Self.roles(body)
                let link = try await directory.invite(name, roles)
                var members = self.link(name, link.token, link.until)
                members["roles"] = .array(roles.texts.map(JSON.string))
                return answered(HTTPResponse(.created, consoleJSON: .object(members)))
            }
        }
        router.on(.put, "/operators/{name}/roles", bodyLimit: Self.bodyLimit) { request, match in
            await answer { () throws(OperatorError) in
                let roles = try Self.roles(try? JSON(parsing: request.body))
                return HTTPResponse(
                    .ok, consoleJSON: Self.json(try await directory.change(match["name"], .roles(roles))))
            }
        }
        router.on(.put, "/operators/{name}/disabled", bodyLimit: Self.bodyLimit) { request, match in
            guard let isDisabled = (try? JSON(parsing: request.body))?["disabled"]?.bool else {
                return HTTPResponse(.badRequest, consoleJSON: ["error": "The body is {\"disabled\": true} or false."])
            }
            return await answer { () throws(OperatorError) in
                HTTPResponse(
                    .ok, consoleJSON: Self.json(try await directory.change(match["name"], .isDisabled(isDisabled))))
            }
        }
        router.on(.delete, "/operators/{name}/sessions") { _, match in
            await answer { () throws(OperatorError) in
                try await directory.endSessions(of: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.delete, "/operators/{name}/factor") { _, match in
            await answer { () throws(OperatorError) in
                try await directory.resetFactor(of: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.get, "/audit/operators") { _, match in await actions(match.target) }
    }

    // MARK: The audit log

    private static let pageLimits = 1...500

    private func actions(_ target: HTTPTarget) async -> HTTPResponse {
        let before = target.item("before")?.value.map { Int64($0) }
        let limit = target.item("limit")?.value.map { Int($0) } ?? 100
        guard let limit, Self.pageLimits.contains(limit), before != .some(nil) else {
            return HTTPResponse(
                .badRequest,
                consoleJSON: [
                    "error": .string("before is the id of an entry, and limit is 1 to \(Self.pageLimits.upperBound).")
                ])
        }
        let query = OperatorActionQuery(
            before: before.flatMap { $0 }.map { OperatorAction.ID(rawValue: $0) },
            operatorName: target.item("operator")?.value, limit: limit)
        do throws(StorageError) {
            let found = try await directory.store.actions(query)
            let next = found.count == limit ? found.last.map { JSON.string(String($0.0.rawValue)) } : nil
            return HTTPResponse(
                .ok, consoleJSON: ["entries": .array(found.map { Self.json($0.0, $0.1) }), "next": next ?? .null])
        } catch {
            return HTTPResponse(.serviceUnavailable, consoleJSON: ["error": .string(error.detail)])
        }
    }

    private static func json(_ id: OperatorAction.ID, _ action: OperatorAction) -> JSON {
        [
            "id": .string(String(id.rawValue)), "at": .string(action.at.iso8601),
            "operator": .string(action.operatorName), "address": .string(action.address),
            "role": .string(action.role), "action": .string(action.action),
            "hub": action.hub.map(JSON.string) ?? .null, "subject": action.subject.map(JSON.string) ?? .null,
            "answer": action.answer.map { .integer(Int64($0)) } ?? .null,
        ]
    }

    // MARK: Operators

    private static func json(_ summary: OperatorSummary) -> JSON {
        let entry = summary.entry
        return [
            "name": .string(entry.name), "roles": .array(entry.roles.texts.map(JSON.string)),
            "isDisabled": .bool(entry.isDisabled), "hasPassword": .bool(entry.passwordHash != nil),
            "hasFactor": .bool(entry.hasFactor),
            "issuer": entry.identity.map { .string($0.issuer) } ?? .null,
            "createdAt": .string(entry.createdAt.iso8601),
            "signedInAt": entry.signedInAt.map { .string($0.iso8601) } ?? .null,
            "sessions": .integer(Int64(summary.sessions)),
            "invitedUntil": summary.invitedUntil.map { .string($0.iso8601) } ?? .null,
        ]
    }

    /// Returns the members of an answer that contains a link.
    ///
    /// The token is in the link's fragment, which browsers do not send and servers do not log.
    private func link(_ name: String, _ token: String, _ until: Timestamp) -> [String: JSON] {
        [
            "name": .string(name), "link": .string("\(origin)/console/enter#\(token)"),
            "expiresAt": .string(until.iso8601),
        ]
    }

    private static func roles(_ body: JSON?) throws(OperatorError) -> RoleGrants {
        guard let texts = body?["roles"]?.array?.map(\.string) else { throw .badRoles }
        var grants: [RoleGrant] = []
        for text in texts {
            guard let text, let grant = RoleGrant(text) else { throw .badRoles }
            grants.append(grant)
        }
        return RoleGrants(grants)
    }

    private func answer(_ work: () async throws(OperatorError) -> HTTPResponse) async -> HTTPResponse {
        do throws(OperatorError) {
            return try await work()
        } catch {
            return HTTPResponse(error.status, consoleJSON: ["error": .string(error.description)])
        }
    }
}
