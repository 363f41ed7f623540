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
    ///   - wait: The maximum time without receiving data.
    ///   - whole: The maximum time that a request may take; nil for no limit.
    init(wait: Duration, whole: Duration?) {
        session = URLSession(
            configuration: Self.configuration(wait: wait, whole: whole), delegate: exchanges,
            delegateQueue: Self.delegateQueue)
    }

    static func configuration(wait: Duration, whole: Duration?) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = interval(wait)
        // By default, a session ends its requests after seven days. The limit here is 68 years.
        configuration.timeoutIntervalForResource = whole.map(interval) ?? Double(Int32.max)
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    private static func interval(_ duration: Duration) -> TimeInterval {
        #if canImport(FoundationNetworking)
        // On Linux a session drops the fraction of a second, so that half a second would become zero.
        (duration / .seconds(1)).rounded(.up)
        #else
        duration / .seconds(1)
        #endif
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
