import MartletHTTP
import MartletModel

/// Logs users in and out.
struct SessionRoutes: Sendable {
    let backend: Backend

    private static let bodyLimit = 8192

    func add(to router: inout Router) {
        router.on(.post, "/api/sessions", bodyLimit: Self.bodyLimit) { request, _ in
            await backend.answer { () throws(BackendError) in try await open(request) }
        }
        router.on(.delete, "/api/sessions") { request, _ in
            await backend.answer { () throws(BackendError) in
                try await backend.authenticator.closeSession(of: request)
                return HTTPResponse(.noContent)
            }
        }
    }

    private func open(_ request: HTTPRequest) async throws(BackendError) -> HTTPResponse {
        let body = try RequestBody(request)
        let session = try await backend.authenticator.openSession(
            try body.string("user"), password: try body.string("password"), from: request)
        var response = HTTPResponse(
            .created, json: ["token": .string(session.token), "expires": .string(session.expires.iso8601)])
        response.fields["cache-control"] = "no-store"
        return response
    }
}
