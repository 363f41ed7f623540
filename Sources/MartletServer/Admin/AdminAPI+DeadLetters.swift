import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

// Routes for dead letters, for sending them again, and for the funnel of a notification.
extension AdminAPI {
    func addDeadLetters(to router: inout Router) {
        router.on(.get, "/hubs/{name}/deadletters") { _, match in
            await withHub(match) { hub throws(StorageError) in
                let last = NotificationID(match.target.item("continuation")?.value ?? "")
                if match.target.item("order")?.value == "newest" { return try await latest(match.target, hub, last) }
                let found = try await deadLetters.notifications(
                    in: hub.id, after: last, limit: DeadLetterDocument.pageLimit + 1)
                return HTTPResponse(.ok, json: DeadLetterDocument.json(found))
            }
        }
        router.on(.get, "/hubs/{name}/messages/{id}/deadletters") { _, match in
            await withHub(match) { hub throws(StorageError) in
                guard let id = NotificationID(match["id"]) else { return Self.unknownNotification }
                let position = DeadLetterDocument.position(match.target.item("continuation")?.value ?? "") ?? .start
                let page = try await deadLetters.page(
                    of: id, in: hub.id, outcome: Self.outcome(match.target), after: position,
                    limit: DeadLetterDocument.pageLimit)
                guard let page else { return Self.unknownNotification }
                return HTTPResponse(.ok, json: DeadLetterDocument.json(page))
            }
        }
        router.on(.get, "/hubs/{name}/messages/{id}/deadletters/reasons") { _, match in
            await withHub(match) { hub throws(StorageError) in
                guard let id = NotificationID(match["id"]),
                    let found = try await deadLetters.reasons(of: id, in: hub.id)
                else { return Self.unknownNotification }
                let counts = found.counts.map { entry -> JSON in
                    [
                        "outcome": .string(entry.outcome.rawValue), "reason": .string(entry.reason),
                        "count": .integer(Int64(entry.count)),
                    ]
                }
                return HTTPResponse(.ok, json: ["reasons": .array(counts), "isPartial": .bool(found.isPartial)])
            }
        }
        router.on(.post, "/hubs/{name}/messages/{id}/deadletters/resend") { request, match in
            if let sentence = match.target.refusalOfTrial {
                return HTTPResponse(.badRequest, error: sentence + ".")
            }
            return await withHub(match) { hub throws(StorageError) in
                guard let id = NotificationID(match["id"]) else { return Self.unknownNotification }
                let outcome = Self.outcome(match.target)
                let acceptance = try await deadLetters.resend(
                    id, outcome: outcome, in: hub.id, by: SendAuthor(administering: request))
                guard case .nothing = acceptance else { return resent(acceptance) }
                let outcomes = try await deadLetters.outcomes(of: id, in: hub.id)
                return HTTPResponse(.conflict, error: DeadLetterDocument.nothing(outcomes) + ".")
            }
        }
    }

    private static func outcome(_ target: HTTPTarget) -> OutcomeName? {
        target.item("outcome")?.value.map { OutcomeName(rawValue: $0) }
    }

    private static let latestLimits = 1...100

    /// Answers with the notifications that have dead letters, newest first. If the query names an outcome, only dead
    /// letters with this outcome are considered.
    private func latest(
        _ target: HTTPTarget, _ hub: Hub, _ last: NotificationID?
    ) async throws(StorageError) -> HTTPResponse {
        let limit = target.item("limit")?.value.map { Int($0) } ?? 50
        guard let limit, Self.latestLimits.contains(limit) else {
            return HTTPResponse(.badRequest, error: "limit is 1 to \(Self.latestLimits.upperBound).")
        }
        let found = try await deadLetters.latest(
            in: hub.id, outcome: Self.outcome(target), before: last, limit: limit)
        return HTTPResponse(.ok, json: DeadLetterDocument.json(found.summaries, next: found.next))
    }

    func addFunnels(to router: inout Router) {
        router.on(.get, "/hubs/{name}/messages/{id}/funnel") { _, match in
            await withHub(match) { hub throws(StorageError) in
                guard let id = NotificationID(match["id"]),
                    let funnel = try await funnels.funnel(of: id, in: hub.id)
                else { return Self.unknownNotification }
                return HTTPResponse(.ok, json: FunnelDocument.json(funnel))
            }
        }
    }

    private func resent(_ acceptance: ResendAcceptance) -> HTTPResponse {
        switch acceptance {
        case .accepted(let notification, _):
            HTTPResponse(.created, json: ["notification": .string(notification.id.description)])
        case .notFound: Self.unknownNotification
        case .underWay:
            HTTPResponse(
                .conflict,
                error: "The notification is still under way: dead letters are sent again when it is over.")
        case .resent(let earlier):
            HTTPResponse(
                .conflict,
                error: "These dead letters were sent again as \(earlier), which may have dead letters of its own.")
        case .gone: HTTPResponse(.conflict, error: DeadLetterDocument.gone + ".")
        case .nothing: HTTPResponse(.conflict, error: DeadLetterDocument.nothing([]) + ".")
        }
    }

    /// Performs work on the hub that a path names, and answers 404 if there is no such hub.
    func withHub(
        _ match: RouteMatch, _ work: (Hub) async throws(StorageError) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else { return Self.refusal(.notFound(match["name"])) }
        do throws(StorageError) {
            return try await work(hub)
        } catch {
            return HTTPResponse(.serviceUnavailable, error: error.detail)
        }
    }

    static let unknownNotification = HTTPResponse(.notFound, error: UnknownNotification.sentence + ".")
}
