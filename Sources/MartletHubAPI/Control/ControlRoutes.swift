import MartletCore
import MartletHTTP
import MartletModel

/// Pauses, resumes and cancels a send, and returns its state. These routes are an extension of Azure's API.
struct ControlRoutes: Sendable {
    let controls: SendControls

    func add(to routes: inout HubRoutes) {
        routes.on(.post, "/{hub}/messages/{id}/cancel", needs: .send, trials: .none, cancel)
        routes.on(.post, "/{hub}/messages/{id}/pause", needs: .send, trials: .none, pause)
        routes.on(.post, "/{hub}/messages/{id}/resume", needs: .send, trials: .none, resume)
        routes.on(.get, "/{hub}/messages/{id}/status", needs: .manage, read)
    }

    @Sendable private func cancel(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        try await apply(.cancel, call)
    }

    @Sendable private func pause(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        try await apply(.pause, call)
    }

    @Sendable private func resume(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        try await apply(.resume, call)
    }

    private func apply(_ wish: ControlRequest, _ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let change: ControlChange
        do throws(StorageError) {
            change = try await controls.apply(wish, to: id, in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        switch change {
        case .done: return try await status(of: id, call)
        case .notFound: throw .notificationNotFound
        case .ended: throw .notificationEnded
        }
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        return try await status(of: id, call)
    }

    private func status(of id: NotificationID, _ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let found: SendStatus?
        do throws(StorageError) {
            found = try await controls.status(of: id, in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        guard let found else { throw .notificationNotFound }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(SendStatusDocument(found, at: controls.now).json.bytes))
    }
}
