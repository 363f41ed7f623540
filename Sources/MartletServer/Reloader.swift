import MartletBackend
import MartletConsole
import MartletCore
import MartletModel
import MartletNetwork
import MartletStorage

/// Applies a new configuration while the server runs. Options that need a restart keep their old values.
///
/// If any part of the new configuration is invalid, nothing is changed.
actor Reloader {
    private let engine: Engine
    private let handler: PublicHandler
    private let front: HTTPServer
    private let certificate: ListenerCertificate?
    private let manager: ServiceManager
    private let read: @Sendable () throws -> ServerConfiguration
    private var current: ServerConfiguration

    /// Creates the reloader of a running server.
    /// - Parameters:
    ///   - current: The configuration that the server uses now.
    ///   - read: Reads the configuration again.
    init(
        _ current: ServerConfiguration, engine: Engine, handler: PublicHandler, front: HTTPServer,
        certificate: ListenerCertificate?, manager: ServiceManager,
        read: @escaping @Sendable () throws -> ServerConfiguration
    ) {
        self.current = current
        self.engine = engine
        self.handler = handler
        self.front = front
        self.certificate = certificate
        self.manager = manager
        self.read = read
    }

    /// Reloads the configuration and logs the result.
    /// - Returns: `{"taken": […], "waiting": […]}`, with option names without leading dashes: the options that have
    ///   changed now, and the options that will change only after a restart.
    /// - Throws: `ServerError` for the first problem found; in this case nothing has changed.
    func report() throws(ServerError) -> JSON {
        manager.tell(.reloading(monotonic: ServiceManager.monotonicTime))
        defer { manager.tell(.ready) }
        do throws(ServerError) {
            let change = try reload()
            engine.log.write(.info, change.sentence)
            return [
                "taken": .array(change.taken.map { .string($0) }),
                "waiting": .array(change.waiting.map { .string($0) }),
            ]
        } catch {
            engine.log.write(.error, "Nothing was reloaded: \(error)")
            throw error
        }
    }

    private func reload() throws(ServerError) -> ConfigurationChange {
        let new = try readAgain()
        var change = ConfigurationChange(from: current, to: new)
        let effective = change.effective
        // Everything that can fail is done before anything is changed.
        let token = try effective.metricsToken()
        let provider = try engine.identityProvider(effective)
        let console = try engine.consoleProviderSettings(effective)
        let candidate = try candidate(effective)
        if let candidate, candidate.isNew { change.take("tls-certificate") }
        if let candidate { certificate?.use(candidate) }
        if effective.openIDConnect != current.openIDConnect { handler.backend.accept(tokensOf: provider) }
        if effective.consoleOpenIDConnect != current.consoleOpenIDConnect {
            engine.use(console)
        } else if console?.client != engine.consoleProvider.settings?.client {
            change.take("console-oidc-client-secret-file")
            engine.use(console)
        }
        engine.log.setLevel(effective.logLevel)
        engine.requestLog.use(effective.accessLog)
        engine.hubs.setStandard(effective.defaultLimits)
        engine.data.files?.room.setReserve(effective.diskReserve ?? DiskRoom.defaultReserve)
        front.setShares(
            trustedProxies: effective.trustedProxies, connectionsPerNetwork: effective.limits.connectionsPerNetwork)
        handler.use(effective, token: token)
        current = effective
        return change
    }

    private func readAgain() throws(ServerError) -> ServerConfiguration {
        do {
            let configuration = try read()
            try configuration.validate()
            return configuration
        } catch {
            throw ServerError("\(error)")
        }
    }

    /// Loads the certificate of a new configuration.
    ///
    /// Returns nil if a reload cannot change the certificate: if there is no TLS listener, or if the server gets its
    /// certificate from an authority (the private one, or one over ACME).
    private func candidate(_ new: ServerConfiguration) throws(ServerError) -> ListenerCertificate.Candidate? {
        guard let certificate, new.acme == nil, !(current.tls == .selfSigned && new.tls == .selfSigned) else {
            return nil
        }
        return try certificate.candidate(new)
    }
}
