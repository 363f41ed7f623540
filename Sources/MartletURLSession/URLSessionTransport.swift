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
    private let session: URLSession
    private let exchanges = Exchanges()

    /// - Parameter timeout: How long an answer may take.
    public init(timeout: Duration = .seconds(30)) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Double(timeout.components.seconds)
        configuration.timeoutIntervalForResource = Double(timeout.components.seconds)
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        // The session keeps its delegate until it is told that nothing more will come.
        session.finishTasksAndInvalidate()
    }

    public func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        guard let url = URL(string: request.url) else {
            throw ClientTransportError(.unreachable, mayHaveBeenProcessed: false, "The address is malformed.")
        }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body.map { Data($0) }
        for (name, value) in request.fields { urlRequest.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: urlRequest)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                exchanges.begin(task.taskIdentifier, answer)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}
