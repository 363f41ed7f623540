import MartletBackend
import MartletHTTP
import Synchronization

/// Answers the requests of the public listeners.
///
/// A reload replaces the configuration of this handler.
final class PublicHandler: HTTPHandler {
    /// The handlers and other parts that a reload does not replace.
    struct Parts: Sendable {
        let health: any HTTPHandler
        let containers: any HTTPHandler
        /// The handler of the console; nil if the public listeners do not serve the console.
        let console: (any HTTPHandler)?
        let hubs: any HTTPHandler
        let metrics: ServerMetrics
        /// Wraps a handler so that its answers are counted, logged and given a request id.
        let answering: @Sendable (any HTTPHandler, RequestCount.Area) -> any HTTPHandler
        let notice: UntrustedProxyNotice
    }

    /// The app backend. A reload changes its settings, but keeps its state, such as the counts of its rate limits.
    let backend: Backend
    private let parts: Parts
    private let current: Mutex<any HTTPHandler>

    init(_ configuration: ServerConfiguration, token: MetricsToken?, backend: Backend, parts: Parts) {
        self.backend = backend
        self.parts = parts
        current = Mutex(parts.handler(configuration, token, backend))
    }

    func route(for head: HTTPRequest) -> HTTPRoute {
        current.withLock(\.self).route(for: head)
    }

    /// Uses a new configuration from the next request on. Requests in progress finish with the old configuration.
    func use(_ configuration: ServerConfiguration, token: MetricsToken?) {
        let handler = parts.handler(configuration, token, backend.with(configuration.backendSettings))
        current.withLock { $0 = handler }
    }
}

extension PublicHandler.Parts {
    fileprivate func handler(
        _ configuration: ServerConfiguration, _ token: MetricsToken?, _ backend: Backend
    ) -> any HTTPHandler {
        let root = RootHandler(
            backend: answering(backend.makeHandler(), .backend), health: health,
            metrics: answering(MetricsAPI(metrics: metrics, token: token), .metrics),
            containers: containers, console: console, hubs: hubs)
        let forwarded = ForwardedClients(root, proxies: configuration.forwardingProxies) { [notice] peer in
            if !configuration.usesProxyProtocol { notice.found(peer) }
        }
        return configuration.asksForStrictTransport ? StrictTransport(handler: forwarded) : forwarded
    }
}
