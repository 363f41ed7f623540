public import MartletClient

extension PushClient {
    /// A client of users who log in with a password, over a `URLSessionTransport` of its own.
    /// - Parameters:
    ///   - server: Where the server is.
    ///   - stores: Where things are kept from launch to launch.
    ///   - encryption: What end-to-end encryption needs; nil where the app does without.
    ///   - retry: How often requests are tried.
    public init(
        server: ServerAddress, stores: ClientStores = ClientStores(), encryption: EndToEndEncryption? = nil,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.init(
            server: server, transport: URLSessionTransport(), stores: stores, encryption: encryption, retry: retry)
    }
}
