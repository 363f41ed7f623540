import MartletHTTP
import MartletModel

/// The part of the administration API that reloads the configuration and reports whether the server is ready.
///
/// `POST /reload` applies the configuration again, and `GET /ready` answers whether the server is ready.
struct LifecycleAdministration: Sendable {
    /// Returns why the server is not ready; nil if it is ready.
    let obstacle: @Sendable () async -> String?
    /// Returns a sentence that says what does not work although the server is ready; nil if everything works.
    let note: @Sendable () -> String?
    /// Applies the configuration again; nil if no server is running.
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
            return HTTPResponse(.ok, json: ["ready": true, "note": note().map(JSON.string) ?? .null])
        }
    }
}
