import MartletHTTP
import MartletModel
import MartletServer

/// The local site whose page subscribes to pushes. The site registers the subscription with the hub.
struct BrowserSite {
    private static let bodyLimit = 16 * 1024

    let hub: HubClient
    let service: BrowserService
    let installation: String
    let tags: [String]

    var router: Router {
        var router = Router { _, _ in HTTPResponse(.notFound) }
        let site = self
        router.on(.get, "/") { _, _ in Self.answer("text/html; charset=utf-8", BrowserPage.html) }
        router.on(.get, "/page.js") { _, _ in Self.answer("text/javascript", BrowserPage.script) }
        router.on(.get, "/worker.js") { _, _ in Self.answer("text/javascript", BrowserPage.worker) }
        router.on(.get, "/key") { _, _ in Self.answer("text/plain", service.publicKey) }
        router.on(.post, "/subscription", bodyLimit: Self.bodyLimit) { request, _ in
            guard Self.isOwn(request) else { return HTTPResponse(.forbidden) }
            return await site.register(request.body)
        }
        router.on(.post, "/shown", bodyLimit: Self.bodyLimit) { request, _ in
            guard Self.isOwn(request) else { return HTTPResponse(.forbidden) }
            Terminal.print(Self.line(request.body))
            return HTTPResponse(.noContent)
        }
        router.on(.post, "/trouble", bodyLimit: Self.bodyLimit) { request, _ in
            guard Self.isOwn(request) else { return HTTPResponse(.forbidden) }
            Terminal.complain("martlet: the page cannot subscribe: \(Self.line(request.body))")
            return HTTPResponse(.noContent)
        }
        return router
    }

    private static func line(_ body: [UInt8]) -> String { Terminal.singleLine(String(decoding: body, as: UTF8.self)) }

    /// Returns whether a request comes from the site's own page. Pages of other sites can send requests to this
    /// machine, too.
    private static func isOwn(_ request: HTTPRequest) -> Bool {
        request.authority.hasPrefix("localhost:") && request.fields["origin"] == "http://\(request.authority)"
    }

    /// Registers a subscription in the format of `PushSubscription.toJSON`.
    private func register(_ body: [UInt8]) async -> HTTPResponse {
        guard let subscription = try? JSON(parsing: body, maximumDepth: 4), let endpoint = subscription["endpoint"],
            let point = subscription["keys"]?["p256dh"], let secret = subscription["keys"]?["auth"]
        else { return HTTPResponse(.badRequest) }
        let description: JSON = [
            "installationId": .string(installation), "platform": .string(service.platform),
            "pushChannel": ["endpoint": endpoint, "p256dh": point, "auth": secret],
            "tags": .array(tags.map(JSON.string)),
        ]
        do {
            _ = try await hub.call(
                .put, "/\(hub.hub)/installations/\(segment(installation))?api-version=2020-06",
                fields: ["content-type": "application/json"], body: description.bytes)
        } catch {
            Terminal.complain("martlet: the browser is not registered: \(error)")
            return Self.answer("text/plain; charset=utf-8", "\(error)", status: 502)
        }
        Terminal.print("Firefox is registered as \(installation)")
        return HTTPResponse(.noContent)
    }

    private static func answer(_ type: String, _ text: String, status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(
            status,
            fields: [
                "content-type": type, "cache-control": "no-store",
                "content-security-policy":
                    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
                    + "base-uri 'none'; form-action 'none'",
            ], body: .bytes(Array(text.utf8)))
    }
}
