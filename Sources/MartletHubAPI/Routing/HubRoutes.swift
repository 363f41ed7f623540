import MartletCore
import MartletHTTP

/// Adds the routes of hubs to a router. The gate admits each request, and each answer carries the request's tracking
/// id.
struct HubRoutes {
    /// Answers an admitted request to a hub.
    typealias Answer = @Sendable (HubCall) async throws(HubAPIError) -> HTTPResponse
    /// Answers an admitted request to the management of hubs.
    typealias ManagementAnswer = @Sendable (ManagementCall) async throws(HubAPIError) -> HTTPResponse

    var router: Router
    let gate: Gate

    mutating func on(
        _ method: HTTPMethod, _ pattern: String, needs right: AccessRights, bodyLimit: Int = 0,
        answerBytes: Int? = nil, trials: Trials = .onlyTests, _ answer: @escaping Answer
    ) {
        on(
            method, pattern, needs: { _ in right }, bodyLimit: bodyLimit, answerBytes: answerBytes, trials: trials,
            answer)
    }

    /// - Parameters:
    ///   - right: Returns the right that the operation needs, which may depend on the query.
    ///   - answerBytes: The maximum length of the answer, in bytes. This much memory is reserved for the answer. If the
    ///     value is nil, `HTTPRequest.documentBytes` are reserved for a GET request. For any other request, the length
    ///     of its body is reserved, but nothing if the body is short.
    ///   - trials: Which items of the query that ask for a trial the route admits. This has no effect on GET.
    mutating func on(
        _ method: HTTPMethod, _ pattern: String, needs right: @escaping @Sendable (RouteMatch) -> AccessRights,
        bodyLimit: Int = 0, answerBytes: Int? = nil, trials: Trials = .onlyTests, _ answer: @escaping Answer
    ) {
        add(method, pattern, bodyLimit: bodyLimit, answerBytes: answerBytes, trials: trials, answer) {
            (gate, head, match) throws(HubAPIError) in
            try gate.admit(head, match, needs: right(match))
        }
    }

    /// Adds a route of the management of hubs, which needs Manage.
    mutating func onManagement(
        _ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 0, _ answer: @escaping ManagementAnswer
    ) {
        add(method, pattern, bodyLimit: bodyLimit, answerBytes: nil, trials: .onlyTests, answer) {
            (gate, head, match) throws(HubAPIError) in
            try gate.admitManager(head, match)
        }
    }

    /// Adds a route that calls `answer` with each admitted request.
    /// - Parameter admit: Admits a request on the basis of its head, before the body is read. Throws the refusal of a
    ///   request that is not admitted.
    private mutating func add<Call: AdmittedCall>(
        _ method: HTTPMethod, _ pattern: String, bodyLimit: Int, answerBytes: Int?, trials: Trials,
        _ answer: @escaping @Sendable (Call) async throws(HubAPIError) -> HTTPResponse,
        admit: @escaping @Sendable (Gate, HTTPRequest, RouteMatch) throws(HubAPIError) -> Call
    ) {
        let gate = gate
        router.admit(method, pattern) { head, match in
            let tracking = TrackingID(of: head)
            let admitted: Call
            do throws(HubAPIError) {
                admitted = try admit(gate, head, match)
            } catch {
                return HTTPRoute(refusing: tracking.refusal(error, to: head, at: gate.time))
            }
            return HTTPRoute(bodyLimit: bodyLimit, account: admitted.account) { request in
                await tracking.answered(request, at: gate.time) { () async throws(HubAPIError) in
                    try request.checkBody(limit: bodyLimit)
                    if method != .get { try trials.check(match.target) }
                    try await request.checkAnswer(answerBytes, for: admitted.account)
                    var call = admitted
                    call.request = request
                    return try await answer(call)
                }
            }
        }
    }
}

extension HubRoutes {
    /// Which items of the query that ask for a dry run or a test send are admitted by a route that changes something.
    ///
    /// All others are refused, because the caller expects that nothing is done. The refusal is here and not in the
    /// routes, so that no route is without it.
    enum Trials {
        /// `dryRun` and `test`: the route reads them itself.
        case all
        /// `test`, which has no effect. It is not refused, because the .NET client can add it to every request
        /// (NotificationHubs.md, section 1.5).
        case onlyTests
        /// None: the route is an extension of Azure's API, so no client adds `test` to its requests.
        case none

        fileprivate func check(_ target: HTTPTarget) throws(HubAPIError) {
            let sentence: String?
            switch self {
            case .all: return
            case .onlyTests: sentence = target.refusalOfDryRun
            case .none: sentence = target.refusalOfTrial
            }
            if let sentence { throw .badRequest(sentence) }
        }
    }
}

/// A request that was admitted on the basis of its head, before its body was read.
protocol AdmittedCall: Sendable {
    /// The request. At first, this is only the request's head; the complete request replaces it before the route
    /// answers.
    var request: HTTPRequest { get set }
    /// The account to which the memory for the body is charged.
    var account: HTTPBodyAccount { get }
}

extension HTTPRequest {
    fileprivate func checkBody(limit: Int) throws(HubAPIError) {
        guard body.count > limit else { return }
        throw .tooLarge(limit == 0 ? "This request takes no body" : "The body is larger than \(limit) bytes")
    }

    /// Waits until memory for the answer is reserved. This is called before any data for the answer is read.
    fileprivate func checkAnswer(_ stated: Int?, for account: HTTPBodyAccount) async throws(HubAPIError) {
        let count = stated ?? (method == .get ? Self.documentBytes : body.count > Self.shortBytes ? body.count : 0)
        guard await !hasAnswerRoom(count, for: account) else { return }
        throw .busy("Read the answers to your other requests, then try again", retryAfter: 5)
    }

    /// The maximum length of a short body, in bytes. No memory is reserved for the answer to a request with a short
    /// body.
    private static let shortBytes = 4 << 10

    /// Returns the answer of `work`, or the answer for the error that it throws, with the request's tracking id.
    func answered(
        at time: any TimeSource, _ work: () async throws(HubAPIError) -> HTTPResponse
    ) async -> HTTPResponse {
        await TrackingID(of: self).answered(self, at: time, work)
    }
}

extension TrackingID {
    fileprivate func answered(
        _ request: HTTPRequest, at time: any TimeSource, _ work: () async throws(HubAPIError) -> HTTPResponse
    ) async -> HTTPResponse {
        do throws(HubAPIError) {
            var response = try await work()
            mark(&response)
            return response
        } catch {
            return refusal(error, to: request, at: time)
        }
    }

    /// Returns the answer for an error, as JSON if the request asks for it, with the tracking id.
    func refusal(_ error: HubAPIError, to request: HTTPRequest, at time: any TimeSource) -> HTTPResponse {
        let asksForJSON = request.fields[HubAPIError.answerField] == "json"
        var response = asksForJSON ? error.jsonResponse : error.response(self, at: time.now)
        mark(&response)
        return response
    }
}
