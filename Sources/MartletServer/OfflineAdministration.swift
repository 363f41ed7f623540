import Glibc
import MartletConsole
public import MartletHTTP

/// Administers a data directory in this process, while no server runs on it.
public struct OfflineAdministration: Sendable {
    /// Answers the requests that a running server answers on its admin socket.
    public let handler: any HTTPHandler
    private let engine: Engine

    /// Opens a data directory and locks it.
    /// - Parameters:
    ///   - publicURL: The address that clients use; nil if it is unknown.
    ///   - version: The program's version, which is recorded in the database.
    ///   - build: The program's commit; empty if unknown.
    /// - Throws: `ServerError` if the directory cannot be opened, for example because a server is using it.
    public init(
        dataDirectory: String, publicURL: HTTPOrigin? = nil, version: String = "", build: String = ""
    ) async throws(ServerError) {
        var configuration = ServerConfiguration(dataDirectory: dataDirectory, loops: 1)
        configuration.version = version
        configuration.build = build
        engine = try await Engine.open(configuration, fallbacks: [:])
        let administration = engine.makeAdminHandler(
            configuration, PublicEndpoint(publicURL: publicURL, tls: nil, clear: nil, hostName: nil))
        handler = CommandLineAudit(administration, store: engine.storage, time: engine.time, ownUser: geteuid())
    }

    /// Finishes pending writes and unlocks the directory.
    public func close() async {
        await engine.close()
    }
}
