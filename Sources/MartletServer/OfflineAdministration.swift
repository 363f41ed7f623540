public import MartletHTTP

/// Administration of a data directory on which no server runs, in this process.
public struct OfflineAdministration: Sendable {
    /// Answers what the admin socket of a running server would.
    public let handler: any HTTPHandler
    private let engine: Engine

    /// - Parameter publicURL: The address that clients use; nil where it is not known.
    /// - Throws: `ServerError`, among others where a server does run.
    public init(dataDirectory: String, publicURL: HTTPOrigin? = nil) async throws(ServerError) {
        let configuration = ServerConfiguration(dataDirectory: dataDirectory, loops: 1)
        engine = try await Engine.open(configuration, fallbacks: [:])
        handler = engine.makeAdminHandler(
            configuration, PublicEndpoint(publicURL: publicURL, tls: nil, clear: nil, hostName: nil))
    }

    /// Writes what is left to write and lets others have the directory.
    public func close() async {
        await engine.close()
    }
}
