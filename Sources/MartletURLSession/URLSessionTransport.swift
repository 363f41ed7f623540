import Foundation
public import MartletClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a `PushClient`'s requests over `URLSession`.
///
/// It keeps no cookies, no cache and no credentials of its own, and verifies the server's certificate as the system
/// does. It follows no redirects, because the requests contain passwords, which must only be sent to the configured
/// server.
///
/// ```swift
/// let client = PushClient(server: try ServerAddress("https://push.example.org"), transport: URLSessionTransport())
/// ```
public final class URLSessionTransport: ClientTransport {
    /// The session for requests whose bodies and answers are short.
    private let plain: ExchangeSession
    /// The session for long bodies. The time-out applies to each wait for more data, and not to the whole request.
    private let streaming: ExchangeSession

    /// Creates a transport.
    /// - Parameter timeout: The maximum time until the whole answer has been received. If a body is streamed, this is
    ///   the maximum time of each wait for more data. On Linux it is rounded up to whole seconds.
    public init(timeout: Duration = .seconds(30)) {
        plain = ExchangeSession(wait: timeout, whole: timeout)
        streaming = ExchangeSession(wait: timeout, whole: nil)
    }

    public func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        if request.upload == nil { try await plain.send(request) } else { try await streaming.send(request) }
    }

    public func send(
        _ request: ClientRequest, to sink: any ResponseSink
    ) async throws(ClientTransportError) -> ClientResponse {
        try await streaming.send(request, to: sink)
    }
}
