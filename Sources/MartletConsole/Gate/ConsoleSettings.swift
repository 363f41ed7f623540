public import MartletHTTP

/// The parts of the server's configuration that the console needs.
public struct ConsoleSettings: Sendable {
    /// The origin that browsers use, if a proxy is in front of the server.
    public var publicURL: HTTPOrigin?
    /// The names by which browsers may address the server, in lower case, without ports.
    ///
    /// IP addresses, `localhost` and the name in `publicURL` are accepted in addition.
    public var hosts: Set<String>
    public var version: String
    /// The directory to read the pages from; nil for the pages that the program contains.
    public var files: String?

    public init(
        publicURL: HTTPOrigin?, hosts: Set<String>, version: String = "", files: String? = nil
    ) {
        self.publicURL = publicURL
        self.hosts = hosts
        self.version = version
        self.files = files
    }
}
