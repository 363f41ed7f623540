import MartletClient
import MartletHTTP
import MartletNetwork

extension RetryPolicy {
    /// A person at the terminal rather sees the error at once and decides.
    static let once = RetryPolicy(attempts: 1)
}

/// The SDK's requests over the server's own network, so that no Foundation is linked.
struct NetworkTransport: ClientTransport {
    private static let timeout: Duration = .seconds(30)

    private let client: HTTPClient
    private let settings: TransportSettings

    /// - Parameter pem: The authority to trust instead of the system's.
    init(_ client: HTTPClient, trusting pem: String?) {
        self.client = client
        settings = TransportSettings(trustedCertificatesPEM: pem)
    }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        guard let (origin, rest) = HTTPOrigin.splitting(request.url) else {
            throw ClientTransportError(
                .unreachable, mayHaveBeenProcessed: false, "the address is no http or https URL")
        }
        let message = HTTPRequest(
            HTTPMethod(rawValue: request.method), rest.isEmpty ? "/" : rest, authority: origin.authority,
            fields: HTTPFields(request.fields.sorted { $0.key < $1.key }.map { HTTPField($0.key, $0.value) }),
            body: request.body ?? [])
        do throws(TransportError) {
            let response = try await client.send(
                message, to: origin, settings: settings, before: .now + Self.timeout)
            var fields: [String: String] = [:]
            for field in response.fields { fields[field.name] = field.value }
            return ClientResponse(status: response.status.code, fields: fields, body: response.bytes)
        } catch {
            throw ClientTransportError(
                Self.kind(of: error), mayHaveBeenProcessed: error.mayHaveBeenProcessed, error.detail)
        }
    }

    private static func kind(of error: TransportError) -> ClientTransportError.Kind {
        switch error.kind {
        case .timedOut: .timedOut
        case .insecure: .insecure
        default: .unreachable
        }
    }
}
