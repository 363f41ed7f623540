import MartletClient
import MartletHTTP
import MartletNetwork

extension RetryPolicy {
    /// A policy without retries, because a person at the terminal prefers to see the error at once and decide.
    static let once = RetryPolicy(attempts: 1, keepsTrying: false)
}

extension Invocation {
    /// Logs in at the app backend, for a command that ends soon.
    func logIn(_ user: String, password: String, at backend: String) async throws -> PushClient {
        let client = PushClient(
            server: try ServerAddress(backend),
            transport: NetworkTransport(
                HTTPClient(loops: try EventLoopGroup(count: 1)),
                trusting: try self["ca-file"].map { try TextFile.readText($0) }),
            retry: .once)
        try await client.logIn(user: user, password: password)
        return client
    }
}

/// A transport that sends the SDK's requests with the server's own network code, so that Foundation is not linked.
struct NetworkTransport: ClientTransport {
    private static let timeout: Duration = .seconds(30)

    private let client: HTTPClient
    private let settings: TransportSettings

    /// - Parameter pem: The certificate of the authority to trust instead of the system's.
    init(_ client: HTTPClient, trusting pem: String?) {
        self.client = client
        settings = TransportSettings(trustedCertificatesPEM: pem)
    }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        if request.upload != nil { return try await transfer(request, to: nil) }
        return try await Self.answer(to: request) { (message, origin) throws(TransportError) in
            try await client.send(message, to: origin, settings: settings, before: .now + Self.timeout)
        }
    }

    func send(
        _ request: ClientRequest, to sink: any ResponseSink
    ) async throws(ClientTransportError) -> ClientResponse {
        try await transfer(request, to: sink)
    }

    private func transfer(
        _ request: ClientRequest, to sink: (any ResponseSink)?
    ) async throws(ClientTransportError) -> ClientResponse {
        try await Self.answer(to: request) { (message, origin) throws(TransportError) in
            try await client.transfer(
                message, to: origin, settings: settings, patience: Self.timeout,
                sink: HTTPClient.Sink {
                    sink?.begin(Self.response($0)) ?? false
                } receive: {
                    sink?.receive($0) ?? false
                })
        }
    }

    private static func answer(
        to request: ClientRequest,
        _ send: (HTTPRequest, HTTPOrigin) async throws(TransportError) -> HTTPResponse
    ) async throws(ClientTransportError) -> ClientResponse {
        guard let (origin, rest) = HTTPOrigin.splitting(request.url) else {
            throw ClientTransportError(
                .unreachable, mayHaveBeenProcessed: false, "the address is no http or https URL")
        }
        var message = HTTPRequest(
            HTTPMethod(rawValue: request.method), rest.isEmpty ? "/" : rest, authority: origin.authority,
            fields: HTTPFields(request.fields.sorted { $0.key < $1.key }.map { HTTPField($0.key, $0.value) }),
            body: request.body ?? [])
        message.upload = request.upload.map { HTTPUpload(length: $0.length, read: $0.read) }
        do throws(TransportError) {
            return response(try await send(message, origin))
        } catch {
            throw ClientTransportError(
                kind(of: error, isUpload: request.upload != nil), mayHaveBeenProcessed: error.mayHaveBeenProcessed,
                error.detail)
        }
    }

    private static func response(_ response: HTTPResponse) -> ClientResponse {
        var fields: [String: String] = [:]
        for field in response.fields { fields[field.name] = field.value }
        return ClientResponse(status: response.status.code, fields: fields, body: response.bytes)
    }

    private static func kind(of error: TransportError, isUpload: Bool) -> ClientTransportError.Kind {
        switch error.kind {
        case .timedOut: .timedOut
        case .insecure: .insecure
        case .cancelled: .cancelled
        case .invalidRequest where isUpload: .unreadable
        default: .unreachable
        }
    }
}
