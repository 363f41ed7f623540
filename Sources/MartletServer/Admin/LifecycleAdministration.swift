import MartletHTTP
import MartletModel

/// `POST /reload` takes up a new configuration, `GET /ready` says whether the server takes work.
struct LifecycleAdministration: Sendable {
    /// What keeps the server from taking work; nil where nothing does.
    let obstacle: @Sendable () async -> String?
    /// nil where no server runs.
    let reload: (@Sendable () async throws(ServerError) -> JSON)?

    func addRoutes(to router: inout Router) {
        router.on(.post, "/reload") { _, _ in
            guard let reload else { return HTTPResponse(.conflict, error: "No server runs on the data directory.") }
            do throws(ServerError) {
                return HTTPResponse(.ok, json: try await reload())
            } catch {
                return HTTPResponse(.conflict, error: error.description)
            }
        }
        router.on(.get, "/ready") { _, _ in
            if let sentence = await obstacle() { return HTTPResponse(.serviceUnavailable, error: sentence) }
            return HTTPResponse(.ok, json: ["ready": true])
        }
    }
}
