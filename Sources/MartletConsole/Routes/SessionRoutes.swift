import MartletCore
import MartletHTTP
import MartletModel

/// The console's routes for signing in and out, and for the settings and sessions of the operator's own account.
struct SessionRoutes: Sendable {
    let directory: OperatorDirectory
    let signIn: SignIn
    let failures: FailedSignIns
    let hubNames: @Sendable () -> [String]
    let facts: SessionFacts
    let provider: ProviderSignIn

    /// The name that the audit log uses for a sign-in with an identity provider.
    static let byProvider = "sign in by provider"

    /// The facts about the server that a page gets together with the facts about its session.
    struct SessionFacts: Sendable {
        var version: String
        var hasSimulator: Bool
        var features: [String]
    }

    private static let bodyLimit = 4096

    private var store: any OperatorStore { directory.store }

    var all: [ConsoleRoute] {
        [
            ConsoleRoute(.post, "/link", .nobody, bodyLimit: Self.bodyLimit, isAudited: false, work: readLink),
            ConsoleRoute(.post, "/link/use", .nobody, bodyLimit: Self.bodyLimit, work: useLink),
            ConsoleRoute(.post, "/sign-in", .nobody, bodyLimit: Self.bodyLimit, work: enter),
            ConsoleRoute(.post, "/sign-out", .nobody, isAudited: false, work: leave),
            ConsoleRoute(.get, "/session", .anyRole) { call throws(ConsoleRefusal) in try document(call) },
            ConsoleRoute(.post, "/session/touch", .anyRole, isAudited: false, work: touch),
            ConsoleRoute(
                .post, "/session/confirm", .anyRole, bodyLimit: Self.bodyLimit, isAudited: false, work: confirm),
            ConsoleRoute(.put, "/session/settings", .anyRole, bodyLimit: Self.bodyLimit, isAudited: false, work: keep),
            ConsoleRoute(.put, "/session/password", .anyRole, bodyLimit: Self.bodyLimit, work: changePassword),
            ConsoleRoute(.get, "/sessions", .anyRole, work: list),
            ConsoleRoute(.delete, "/sessions/{session}", .anyRole, work: end),
        ]
    }

    // MARK: Signing in

    @Sendable private func readLink(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (link, entry) = try await signIn.found(try text("token", of: try call.body()))
        return HTTPResponse(
            .ok,
            consoleJSON: [
                "kind": .string(link.kind.rawValue), "name": .string(entry.name),
                "roles": .array(entry.roles.texts.map(JSON.string)), "expiresAt": .string(link.expiresAt.iso8601),
            ])
    }

    @Sendable private func useLink(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let body = try call.body()
        let token = try text("token", of: body)
        let name = (try? await signIn.link(token))?.operatorName ?? ""
        let opened = try await noting(name, "use a link", call) { () async throws(ConsoleRefusal) in
            try await signIn.use(
                token, password: body["password"]?.string, code: body["code"]?.string, from: call.request)
        }
        return try await entered(opened, call)
    }

    @Sendable private func enter(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let body = try call.body()
        let (name, password) = (try text("name", of: body), try text("password", of: body))
        let opened = try await noting(name, "sign in", call) { () async throws(ConsoleRefusal) in
            try await signIn.open(name, password, code: body["code"]?.string, from: call.request)
        }
        return try await entered(opened, call)
    }

    /// Performs a sign-in or a confirmation, and writes a failure to the audit log.
    private func noting<Value>(
        _ name: String, _ action: String, _ call: ConsoleCall, _ work: () async throws(ConsoleRefusal) -> Value
    ) async throws(ConsoleRefusal) -> Value {
        do throws(ConsoleRefusal) {
            return try await work()
        } catch {
            await failures.note(name, action, error, from: call.request, at: call.now)
            throw error
        }
    }

    /// Answers a successful sign-in with the new session, and ends an earlier session of the same browser.
    private func entered(_ opened: SignIn.Opened, _ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        try await entered(opened.session, of: opened.entry, token: opened.token, action: "sign in", call)
    }

    /// Answers a successful sign-in. If it has opened a new session, an earlier session of the same browser ends.
    /// - Parameters:
    ///   - token: The token of a new session; nil if the session of the request continues.
    ///   - action: The name of the sign-in in the audit log.
    func entered(
        _ session: OperatorSession, of entry: Operator, token: String?, action: String, _ call: ConsoleCall
    ) async throws(ConsoleRefusal) -> HTTPResponse {
        if token != nil, let old = ConsoleCookie.session.token(in: call.request.fields) {
            let hash = OperatorDirectory.hash(of: old)
            let former = try await stored { () throws(StorageError) in
                let former = try await store.operatorSession(tokenHash: hash)?.1.name
                _ = try await store.removeOperatorSession(tokenHash: hash)
                return former
            }
            // The event streams of the earlier session end too. Otherwise they would continue with the rights of the
            // operator who was signed in before.
            if let former { directory.changed(former) }
        }
        try await audit(entry, action, call)
        var response = document(session, entry, call.now)
        if let token {
            response.fields["set-cookie"] = ConsoleCookie.session.setting(
                token, seconds: OperatorSession.lifetime.components.seconds)
        }
        return response
    }

    private func audit(_ entry: Operator, _ name: String, _ call: ConsoleCall) async throws(ConsoleRefusal) {
        let action = OperatorAction(
            at: call.now, operatorName: entry.name, address: call.request.clientAddress, role: "",
            action: name, answer: 200)
        _ = try await stored { () throws(StorageError) in try await store.begin(action) }
    }

    @Sendable private func leave(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        var response = HTTPResponse(.noContent, fields: ["cache-control": "no-store"])
        do throws(ConsoleRefusal) {
            if let found = try await signIn.session(of: call.request) {
                _ = try await stored { () throws(StorageError) in
                    try await store.removeOperatorSession(tokenHash: found.session.tokenHash)
                }
                directory.changed(found.entry.name)
            }
        } catch {
            response = ConsoleRefusal.notEnded(error.sentence).response
        }
        // The browser forgets the session also if the server cannot end it, for example because its disk is full.
        response.fields["set-cookie"] = ConsoleCookie.session.removing
        return response
    }

    // MARK: The session

    private func document(_ call: ConsoleCall) throws(ConsoleRefusal) -> HTTPResponse {
        let (session, entry) = try call.signedIn()
        return document(session, entry, call.now)
    }

    private func document(_ session: OperatorSession, _ entry: Operator, _ now: Timestamp) -> HTTPResponse {
        let hubs = hubNames().compactMap { name -> JSON? in
            entry.roles.role(for: name).map { ["name": .string(name), "role": .string($0.rawValue)] }
        }
        return HTTPResponse(
            .ok,
            consoleJSON: [
                "operator": .string(entry.name), "roles": .array(entry.roles.texts.map(JSON.string)),
                "hubs": .array(hubs), "isServerAdmin": .bool(entry.roles.overall == .admin),
                "isFresh": .bool(session.isFresh(at: now)), "freshUntil": .string(session.freshUntil.iso8601),
                "idleUntil": .string(session.idleUntil.iso8601), "endsAt": .string(session.endsAt.iso8601),
                "hasPassword": .bool(entry.passwordHash != nil), "hasFactor": .bool(entry.hasFactor),
                "provider": provider.name(for: entry).map(JSON.string) ?? .null,
                "settings": (try? JSON(parsing: Array(entry.settings.utf8))) ?? [:],
                "version": .string(facts.version), "now": .string(now.iso8601),
                "simulator": .bool(facts.hasSimulator), "features": .array(facts.features.map(JSON.string)),
            ])
    }

    @Sendable private func touch(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        try await touched(call, isConfirmed: false)
    }

    @Sendable private func confirm(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (_, entry) = try call.signedIn()
        let password = try text("password", of: try call.body())
        try await noting(entry.name, "confirm", call) { () async throws(ConsoleRefusal) in
            try await signIn.confirm(entry, password, from: call.request)
        }
        return try await touched(call, isConfirmed: true)
    }

    private func touched(_ call: ConsoleCall, isConfirmed: Bool) async throws(ConsoleRefusal) -> HTTPResponse {
        var (session, entry) = try call.signedIn()
        let (hash, now) = (session.tokenHash, call.now)
        try await stored { () throws(StorageError) in
            try await store.touchSession(tokenHash: hash, at: now, isConfirmed: isConfirmed)
        }
        session.usedAt = max(session.usedAt, now)
        if isConfirmed { session.confirmedAt = now }
        return document(session, entry, now)
    }

    @Sendable private func keep(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (session, entry) = try call.signedIn()
        let settings = JSON.object(try call.body()).text
        guard settings.utf8.count <= OperatorDirectory.settingsLimit else { throw .tooLarge }
        var changed = entry
        changed.settings = settings
        _ = try await stored { () throws(StorageError) in try await store.change(entry.name, .settings(settings)) }
        return document(session, changed, call.now)
    }

    @Sendable private func changePassword(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (session, entry) = try call.signedIn()
        let body = try call.body()
        guard entry.identity == nil else {
            throw .conflict("You sign in by an identity provider: there is no password to change here.")
        }
        // An operator who has only ever signed in with links has no password. Instead, such an operator must have
        // confirmed their identity recently.
        if entry.passwordHash != nil {
            try await signIn.confirm(entry, try text("password", of: body), from: call.request)
        } else if !session.isFresh(at: call.now) {
            throw .notFresh
        }
        let hash = try await signIn.hash(try text("new", of: body))
        _ = try await stored { () throws(StorageError) in
            _ = try await store.change(entry.name, .passwordHash(hash))
            return try await store.endSessions(of: entry.name, except: session.tokenHash)
        }
        directory.changed(entry.name)
        return HTTPResponse(.noContent)
    }

    // MARK: Sessions

    @Sendable private func list(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (current, entry) = try call.signedIn()
        let sessions = try await stored { () throws(StorageError) in
            try await store.operatorSessions(of: entry.name)
        }
        return HTTPResponse(
            .ok,
            consoleJSON: .array(
                sessions.filter { $0.isValid(at: call.now) }.map { session in
                    [
                        "id": .string(session.id), "createdAt": .string(session.createdAt.iso8601),
                        "usedAt": .string(session.usedAt.iso8601), "address": .string(session.address),
                        "agent": .string(session.agent), "isCurrent": .bool(session.tokenHash == current.tokenHash),
                    ]
                }))
    }

    @Sendable private func end(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (_, entry) = try call.signedIn()
        let sessions = try await stored { () throws(StorageError) in
            try await store.operatorSessions(of: entry.name)
        }
        guard let session = sessions.first(where: { $0.id == call.match["session"] }) else { throw .notFound }
        _ = try await stored { () throws(StorageError) in
            try await store.removeOperatorSession(tokenHash: session.tokenHash)
        }
        directory.changed(entry.name)
        return HTTPResponse(.noContent)
    }

    private func text(_ name: String, of body: [String: JSON]) throws(ConsoleRefusal) -> String {
        guard let text = body[name]?.string else { throw .badRequest("The body needs the text '\(name)'.") }
        return text
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(ConsoleRefusal) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw ConsoleRefusal(error)
        }
    }
}
