import Foundation
import MartletClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` together with its delegate, which collects the answers.
final class ExchangeSession: Sendable {
    private let session: URLSession
    private let exchanges = Exchanges()

    /// Creates a session.
    /// - Parameters:
    ///   - wait: The maximum time without receiving data, in seconds.
    ///   - whole: The maximum time that a request may take, in seconds.
    init(wait: Double, whole: Double) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = wait
        configuration.timeoutIntervalForResource = whole
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: Self.delegateQueue)
    }

    private static var delegateQueue: OperationQueue? {
        #if canImport(FoundationNetworking)
        DelegateQueue()
        #else
        nil
        #endif
    }

    deinit {
        // The session is invalidated, because it keeps its delegate alive until then.
        session.finishTasksAndInvalidate()
    }

    func send(
        _ request: ClientRequest, to sink: (any ResponseSink)? = nil
    ) async throws(ClientTransportError) -> ClientResponse {
        guard let url = URL(string: request.url) else {
            throw ClientTransportError(.unreachable, mayHaveBeenProcessed: false, "The address is malformed.")
        }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method
        for (name, value) in request.fields { urlRequest.setValue(value, forHTTPHeaderField: name) }
        guard let upload = request.upload else {
            urlRequest.httpBody = request.body.map { Data($0) }
            return try await run(session.dataTask(with: urlRequest), to: sink)
        }
        let file = try UploadFile(upload)
        defer { file.remove() }
        return try await run(session.uploadTask(with: urlRequest, fromFile: file.url), to: sink)
    }

    private func run(
        _ task: URLSessionTask, to sink: (any ResponseSink)?
    ) async throws(ClientTransportError) -> ClientResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                exchanges.begin(task.taskIdentifier, to: sink, answer)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}
