import MartletCore
import MartletHTTP
import MartletModel

/// Lists and resends dead letters. These routes are an extension of Azure's API.
struct DeadLetterRoutes: Sendable {
    let letters: DeadLetters

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/deadletters", needs: .manage, answerBytes: HTTPRequest.pageBytes, list)
        routes.on(.get, "/{hub}/messages/{id}/deadletters", needs: .manage, answerBytes: HTTPRequest.pageBytes, read)
        routes.on(.post, "/{hub}/messages/{id}/deadletters/resend", needs: .send, trials: .none, resend)
    }

    @Sendable private func list(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let continuation = call.match.target.item("continuation")?.value ?? ""
        let last = NotificationID(continuation)
        guard last != nil || continuation.isEmpty else { throw Self.badContinuation }
        do throws(StorageError) {
            let found = try await letters.notifications(
                in: call.hub.id, after: last, limit: DeadLetterDocument.pageLimit + 1)
            return Self.answer(.ok, DeadLetterDocument.json(found))
        } catch {
            throw HubAPIError(error)
        }
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let continuation = call.match.target.item("continuation")?.value ?? ""
        let position = continuation.isEmpty ? .start : DeadLetterDocument.position(continuation)
        guard let position else { throw Self.badContinuation }
        let page: DeadLetterPage?
        do throws(StorageError) {
            page = try await letters.page(
                of: id, in: call.hub.id, after: position, limit: DeadLetterDocument.pageLimit)
        } catch {
            throw HubAPIError(error)
        }
        guard let page else { throw .notificationNotFound }
        return Self.answer(.ok, DeadLetterDocument.json(page))
    }

    @Sendable private func resend(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let name = call.match.target.item("outcome")?.value
        guard name.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw .badRequest("The outcome is the name of one, such as BadChannel")
        }
        let acceptance: ResendAcceptance
        var outcomes: [OutcomeName] = []
        do throws(StorageError) {
            acceptance = try await letters.resend(
                id, outcome: name.map { OutcomeName(rawValue: $0) }, in: call.hub.id, by: call.author)
            if case .nothing = acceptance { outcomes = try await letters.outcomes(of: id, in: call.hub.id) }
        } catch {
            throw HubAPIError(error)
        }
        switch acceptance {
        case .accepted(let notification, _):
            let new = notification.id.description
            var response = Self.answer(.created, ["notification": .string(new)])
            response.fields["location"] = call.url("messages", new) + call.versionQuery
            return response
        case .notFound: throw .notificationNotFound
        case .underWay:
            throw .conflict("The notification is still under way: dead letters are sent again when it is over")
        case .resent(let earlier):
            throw .conflict("These dead letters were sent again as \(earlier), which may have dead letters of its own")
        case .nothing: throw .conflict(DeadLetterDocument.nothing(outcomes))
        case .gone: throw .conflict(DeadLetterDocument.gone)
        }
    }

    private static let badContinuation = HubAPIError.badRequest("The continuation is not one that this listing gave")

    private static func answer(_ status: HTTPStatus, _ json: JSON) -> HTTPResponse {
        HTTPResponse(
            status, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(json.bytes))
    }
}
