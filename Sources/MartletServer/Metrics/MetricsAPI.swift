import MartletCore
import MartletCrypto
import MartletHTTP

/// Answers `GET /metrics` for callers that have the token.
struct MetricsAPI: HTTPHandler {
    static let segment = "metrics"

    let metrics: ServerMetrics
    /// The token that callers must have; nil if no caller may read metrics here.
    let token: MetricsToken?

    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(ignoringBody: { await respond(to: $0) })
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard HTTPTarget(request.target)?.segments == [Self.segment], let token else {
            return Self.refusal(
                .notFound,
                "Metrics are at /metrics where the server was started with --metrics-token-file; 'martlet metrics' "
                    + "prints them on its machine.")
        }
        guard request.method == .get else {
            return Self.refusal(.methodNotAllowed, "Use GET.", ["allow": "GET"])
        }
        guard token.isIn(request) else {
            return Self.refusal(
                .unauthorized, "Send the token of the server's --metrics-token-file: Authorization: Bearer TOKEN.",
                ["www-authenticate": "Bearer realm=\"metrics\""])
        }
        return await Self.answer(metrics)
    }

    /// Answers with the metrics, without checking a token. The handler of the admin socket calls this, because no token
    /// is needed there.
    static func answer(_ metrics: ServerMetrics) async -> HTTPResponse {
        do throws(StorageError) {
            return HTTPResponse(
                .ok, fields: ["content-type": MetricsText.contentType, "cache-control": "no-store"],
                body: .bytes(Array(try await metrics.text().utf8)))
        } catch {
            return refusal(.serviceUnavailable, "The storage does not answer: \(error)")
        }
    }

    private static func refusal(_ status: HTTPStatus, _ sentence: String, _ more: HTTPFields = [:]) -> HTTPResponse {
        var fields = more
        fields["content-type"] = "text/plain; charset=utf-8"
        return HTTPResponse(status, fields: fields, body: .bytes(Array("\(sentence)\n".utf8)))
    }
}
