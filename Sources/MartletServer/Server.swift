import MartletBackend
import MartletCore
import MartletCrypto
public import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletNetwork
import MartletPush
import MartletStorage

/// A Martlet server: everything that a configuration asks for, wired together.
///
/// ```swift
/// let server = try await Server.start(configuration)
/// print(server.origins)
/// await server.run()  // until the task is cancelled
/// ```
public final class Server: Sendable {
    /// Where it listens, with real ports.
    public let origins: [HTTPOrigin]
    /// The file of the private authority that `--tls-self-signed` made.
    public let authorityFile: String?

    private let engine: Engine
    private let front: HTTPServer
    private let admin: HTTPServer

    private init(
        origins: [HTTPOrigin], authorityFile: String?, engine: Engine, front: HTTPServer, admin: HTTPServer
    ) {
        self.origins = origins
        self.authorityFile = authorityFile
        self.engine = engine
        self.front = front
        self.admin = admin
    }

    /// Opens the data directory and listens.
    /// - Parameter fallbacks: Credential properties, by platform, for hubs that have none of their own; a simulator's.
    /// - Throws: `ServerError` saying what is in the way.
    public static func start(
        _ configuration: ServerConfiguration, fallbacks: [String: [String: String]] = [:]
    ) async throws(ServerError) -> Server {
        try configuration.validate()
        let engine = try await Engine.open(configuration, fallbacks: fallbacks)
        do throws(ServerError) {
            return try await listen(configuration, engine)
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Serves and delivers until the task is cancelled; then finishes what is in progress and closes the data directory.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { await self.front.run() }
            group.addTask { await self.admin.run() }
            group.addTask { await self.engine.dispatcher.run() }
            group.addTask { await self.engine.scheduler.run() }
            group.addTask { await self.engine.jobs.run() }
            group.addTask { await self.engine.sweep() }
            group.addTask { await self.engine.finishKeyRotation() }
        }
        await engine.close()
    }

    private static func listen(
        _ configuration: ServerConfiguration, _ engine: Engine
    ) async throws(ServerError) -> Server {
        let certificates = try selfSignedCertificates(configuration)
        let front = HTTPServer(
            loops: engine.loops, handler: try engine.makeHandler(configuration), limits: configuration.limits)
        engine.requests.watch("public", front)
        var clear: HTTPOrigin?
        var secure: HTTPOrigin?
        if let address = configuration.listen {
            clear = try await listen(front, on: address, tls: nil)
        }
        if let address = configuration.tlsListen {
            let identity = try tlsIdentity(configuration, certificates)
            secure = try await listen(front, on: address, tls: identity)
        }
        let endpoint = PublicEndpoint(
            publicURL: configuration.publicURL, tls: secure, clear: clear, hostName: HostName.current)
        let admin = HTTPServer(loops: engine.loops, handler: engine.makeAdminHandler(configuration, endpoint))
        engine.requests.watch("admin", admin)
        let socket = try AdminSocket.path(in: configuration.dataDirectory)
        do throws(NetworkError) {
            try await admin.listen(on: .unix(path: socket))
        } catch {
            throw ServerError("The admin socket cannot be opened: \(error)")
        }
        return Server(
            origins: [clear, secure].compactMap(\.self), authorityFile: certificates?.authorityFile, engine: engine,
            front: front, admin: admin)
    }

    /// - Returns: The origin with the real port.
    private static func listen(
        _ server: HTTPServer, on address: ServerConfiguration.Address, tls identity: TLSIdentity?
    ) async throws(ServerError) -> HTTPOrigin {
        do throws(NetworkError) {
            let context: TLSServerContext?
            if let identity { context = try TLSServerContext(identity) } else { context = nil }
            let bound = try await server.listen(on: .tcp(host: address.host, port: address.port), tls: context)
            if address.isEveryAddress {
                // A machine without IPv6 has no such address.
                _ = try? await server.listen(on: .tcp(host: "::", port: bound.port), tls: context)
            }
            return HTTPOrigin(scheme: identity == nil ? .http : .https, host: address.host, port: bound.port)
        } catch {
            throw ServerError("The server cannot listen on \(address): \(error)")
        }
    }

    private static func tlsIdentity(
        _ configuration: ServerConfiguration, _ certificates: ServerCertificates?
    ) throws(ServerError) -> TLSIdentity {
        if let certificates {
            return TLSIdentity(certificatesPEM: certificates.certificatePEM, privateKeyPEM: certificates.keyPEM)
        }
        guard case .files(let certificate, let key) = configuration.tls else {
            throw ServerError("--tls-listen needs a certificate.")
        }
        do throws(NetworkError) {
            return try TLSIdentity(certificateFile: certificate, privateKeyFile: key)
        } catch {
            throw ServerError("The certificate cannot be used: \(error)")
        }
    }

    private static func selfSignedCertificates(
        _ configuration: ServerConfiguration
    ) throws(ServerError) -> ServerCertificates? {
        guard case .selfSigned = configuration.tls else { return nil }
        let hosts = [configuration.tlsListen?.host, configuration.publicURL?.host].compactMap(\.self)
        return try ServerCertificates(
            in: configuration.dataDirectory, hosts: hosts.filter { !["0.0.0.0", "::"].contains($0) },
            now: SystemTime().now)
    }
}
