public import MartletClient

extension PushClient {
    /// Creates a client for users who log in with a password. It has its own `URLSessionTransport`.
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - stores: The stores that keep data between launches.
    ///   - encryption: The components of end-to-end encryption; nil if the app does not use it.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, stores: ClientStores = ClientStores(), encryption: EndToEndEncryption? = nil,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: URLSessionTransport(), stores: stores, encryption: encryption, retry: retry)
    }
}
