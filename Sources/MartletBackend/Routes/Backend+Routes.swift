public import MartletHTTP
import MartletOpenAPI

extension Backend {
    /// Makes the handler of every path that begins with `/api`.
    public func makeHandler() -> any HTTPHandler {
        CrossSiteHandler(handler: makeRouter(), rule: CrossSiteRule(publicOrigin: settings.publicOrigin))
    }

    func makeRouter() -> Router {
        var router = Router { _, refusal in Self.answer(refusal) }
        SessionRoutes(backend: self).add(to: &router)
        RegisterRoutes(backend: self).add(to: &router)
        DeviceKeyRoutes(backend: self).add(to: &router)
        NotificationRoutes(backend: self).add(to: &router)
        MessageRoutes(backend: self).add(to: &router)
        RichRoutes(backend: self).add(to: &router)
        SecureRoutes(backend: self).add(to: &router)
        EncryptedRoutes(backend: self).add(to: &router)
        // The routes with an id in the path are added after the routes with a fixed word, such as `rich`, at the same
        // place in the path. Otherwise the word would be taken for an id.
        PayloadRoutes(backend: self).add(to: &router)
        ReceiptRoutes(backend: self).add(to: &router)
        let description = BackendDescription(platforms: platforms).description.makeResponse()
        router.on(.get, BackendDescription.path) { _, _ in description }
        return router
    }

    private static func answer(_ refusal: Router.Refusal) -> HTTPResponse {
        switch refusal {
        case .badTarget: return HTTPResponse(.badTarget)
        case .notFound: return HTTPResponse(.notFound as BackendError)
        case .methodNotAllowed(let allow):
            var response = HTTPResponse(.methodNotAllowed as BackendError)
            response.fields["allow"] = allow.map(\.rawValue).joined(separator: ", ")
            return response
        }
    }
}
