import MartletHTTP

/// Answers `GET /health/live`, which reports whether the process runs, and `GET /health/ready`, which reports whether
/// the server is ready for work.
struct HealthAPI: HTTPHandler {
    /// Returns the reason why the server is not ready, as a sentence without addresses and paths, because anyone may ask;
    /// nil if it is ready.
    let obstacle: @Sendable () async -> String?
    /// Returns a sentence that says what does not work although the server is ready; nil if everything works.
    ///
    /// The status of the answer stays 200, so that load balancers still send requests to the parts of the server that
    /// work.
    let note: @Sendable () -> String?

    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(ignoringBody: { await respond(to: $0) })
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return HTTPResponse(
                .methodNotAllowed, fields: ["allow": "GET, HEAD", "content-type": "text/plain; charset=utf-8"],
                body: .bytes(Array("Use GET.\n".utf8)))
        }
        switch HTTPTarget(request.target)?.segments {
        case ["health", "live"]: return Self.answer(.ok, "live")
        case ["health", "ready"]:
            if let obstacle = await obstacle() { return Self.answer(.serviceUnavailable, obstacle) }
            return Self.answer(.ok, note().map { "ready\n\($0)" } ?? "ready")
        default: return Self.answer(.notFound, "There are /health/live and /health/ready.")
        }
    }

    private static func answer(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status, fields: ["content-type": "text/plain; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(Array("\(text)\n".utf8)))
    }
}
