public import MartletClient

extension PushClient {
    /// Creates a client for users who log in with a password.
    ///
    /// The client has its own `URLSessionTransport`.
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - stores: The stores that keep data between launches.
    ///   - encryption: The components of end-to-end encryption; nil if the app does not use it.
    ///   - retry: The policy for trying requests again.
    public init(
        server: ServerAddress, stores: ClientStores = ClientStores(), encryption: EndToEndEncryption? = nil,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: URLSessionTransport(), stores: stores, encryption: encryption, retry: retry)
    }
}
