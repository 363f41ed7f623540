import MartletCore
import MartletHTTP
import MartletModel

/// Serves a route of the console's API after checking the head, the session and the role, and writes the audit log.
struct GatedRoute: Sendable {
    let route: ConsoleRoute
    let source: RequestSource
    let signIn: SignIn
    let time: any TimeSource

    /// The minimum time between two records of a session's last use. It prevents a write to the database for every
    /// request.
    private static let touchInterval = Duration.seconds(60)

    func route(for head: HTTPRequest, _ match: RouteMatch) -> HTTPRoute {
        do throws(ConsoleRefusal) {
            try source.checkTransport(head)
            try source.checkSite(head)
            try checkMediaType(head)
        } catch {
            return HTTPRoute(refusing: error.response)
        }
        // The body is read later, when the session is known.
        return HTTPRoute(bodyLimit: route.bodyLimit, streamsBody: true) { request in
            do throws(ConsoleRefusal) {
                return try await answer(request, match)
            } catch {
                return error.response
            }
        }
    }

    private func checkMediaType(_ head: HTTPRequest) throws(ConsoleRefusal) {
        guard ![.get, .head].contains(head.method) else { return }
        let type = head.fields["content-type"].flatMap { HeaderParameters($0)?.value } ?? ""
        guard type == "application/json" || (route.takesXML && type == "application/xml") else { throw .notJSON }
    }

    private func answer(_ request: HTTPRequest, _ match: RouteMatch) async throws(ConsoleRefusal) -> HTTPResponse {
        let now = time.now
        let found = route.need.level == .nobody ? nil : try await signIn.session(of: request)
        let hub = match["hub"].isEmpty ? nil : match["hub"]
        let role = try ConsoleGate.admit(route.need, hub: hub, found, at: now)
        if let session = found?.session { await touch(session, at: now) }
        if let name = found?.entry.name.lowercased() { try await Self.reserve(request, for: name) }
        var call = ConsoleCall(
            request: request, match: match, session: found?.session, entry: found?.entry, role: role, now: now)
        call.request.body = try await Self.body(of: request)
        call.request.stream = nil
        call.request.reservation = request.stream
        guard needsAudit(call), let entry = found?.entry else { return try await route.work(call) }
        return try await audited(call, entry)
    }

    /// Counts the memory for a request's body, and for the answer to a GET, as memory that the operator uses. The
    /// memory of each operator is limited.
    /// - Throws: `ConsoleRefusal.busy` if there is no memory for the answer.
    private static func reserve(_ request: HTTPRequest, for name: String) async throws(ConsoleRefusal) {
        let account = HTTPBodyAccount.caller(name, scope: "console")
        request.stream?.charge(to: account)
        guard request.method == .get else { return }
        guard await request.hasAnswerRoom(HTTPRequest.documentBytes, for: account) else {
            throw .busy("There is no memory for the answer now; try again.")
        }
    }

    private static func body(of request: HTTPRequest) async throws(ConsoleRefusal) -> [UInt8] {
        guard let stream = request.stream else { return request.body }
        do throws(HTTPBodyError) {
            return try await stream.collect(upTo: .max)
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge
            case .overloaded: throw .busy("There is no memory for the body now; try again.")
            case .malformed, .stalled, .disconnected: throw .badRequest("The body did not arrive.")
            }
        }
    }

    private func touch(_ session: OperatorSession, at now: Timestamp) async {
        guard now - session.usedAt > Self.touchInterval else { return }
        try? await signIn.directory.store.touchSession(tokenHash: session.tokenHash, at: now, isConfirmed: false)
    }

    /// Returns whether a request is recorded in the audit log.
    ///
    /// Besides the requests of audited routes, this includes an administrator's requests for withheld content.
    private func needsAudit(_ call: ConsoleCall) -> Bool {
        route.isRecorded(call) || (call.asksForContent && call.role == .admin)
    }

    /// Performs a request and records it in the audit log.
    ///
    /// The entry is on disk before anything is changed, and the status is added to the entry before the caller gets the
    /// answer.
    private func audited(_ call: ConsoleCall, _ entry: Operator) async throws(ConsoleRefusal) -> HTTPResponse {
        let action = OperatorAction(
            at: call.now, operatorName: entry.name, address: call.request.clientAddress,
            role: call.role?.rawValue ?? "", action: route.action(of: call), hub: call.hub,
            subject: route.subject(of: call))
        let store = signIn.directory.store
        let id: OperatorAction.ID
        do throws(StorageError) {
            id = try await store.begin(action)
        } catch {
            throw ConsoleRefusal(error)
        }
        let response: HTTPResponse
        do throws(ConsoleRefusal) {
            response = try await route.work(call)
        } catch {
            response = error.response
        }
        try? await store.end(id, answer: response.status.code, subject: route.made(by: response))
        return response
    }
}
