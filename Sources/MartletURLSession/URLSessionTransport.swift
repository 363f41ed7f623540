import Foundation
public import MartletClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries a `PushClient`'s requests over `URLSession`.
///
/// Keeps no cookies, no cache and no credentials of its own, verifies the server's certificate as the system does, and
/// follows no redirect: the requests carry passwords, which belong to nobody but the server that was named.
///
/// ```swift
/// let client = PushClient(server: try ServerAddress("https://push.example.org"), transport: URLSessionTransport())
/// ```
public final class URLSessionTransport: ClientTransport {
    /// For requests that are short both ways.
    private let plain: ExchangeSession
    /// For long bodies: limited by its waits alone.
    private let streaming: ExchangeSession

    /// - Parameter timeout: How long an answer may take; where a body is streamed, how long each wait for more of it.
    public init(timeout: Duration = .seconds(30)) {
        let seconds = Double(timeout.components.seconds)
        plain = ExchangeSession(wait: seconds, whole: seconds)
        streaming = ExchangeSession(wait: seconds, whole: 86_400)
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
