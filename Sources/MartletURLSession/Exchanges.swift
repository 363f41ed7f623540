import Foundation
import MartletClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Collects the answers of a session's tasks.
///
/// A delegate is used, because it can refuse redirects on all systems. `URLSession`'s own asynchronous methods follow
/// redirects without asking on Linux.
final class Exchanges: NSObject, URLSessionDataDelegate {
    typealias Answer = Result<ClientResponse, ClientTransportError>

    private struct Exchange {
        let answer: CheckedContinuation<Answer, Never>
        /// The sink that receives the body, if the sink accepts the response.
        ///
        /// The sink is called without a lock, because the session makes only one call to its delegate at a time.
        let sink: (any ResponseSink)?
        var isSinking = false
        var isUnwanted = false
        var body: [UInt8] = []
        var isTooLong = false
        var isChallenged = false

        /// Appends data to the body, unless the body would exceed the limit.
        /// - Returns: Whether this data is the first that exceeds the limit.
        mutating func collect(_ data: Data, limit: Int) -> Bool {
            guard !isTooLong else { return false }
            isTooLong = body.count + data.count > limit
            if !isTooLong { body += data }
            return isTooLong
        }
    }

    /// The maximum length of an answer's body, in bytes; the backend's answers are much shorter.
    private static let bodyLimit = 1 << 20

    private let exchanges = Locked<[Int: Exchange]>([:])

    func begin(_ task: Int, to sink: (any ResponseSink)?, _ answer: CheckedContinuation<Answer, Never>) {
        exchanges.withLock { $0[task] = Exchange(answer: answer, sink: sink) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Rejects challenges that ask for a user name and password, so that the server's 401 becomes the answer. All other
    /// challenges, such as the check of the server's certificate, get the system's default handling.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isPassword = [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodDefault].contains(
            challenge.protectionSpace.authenticationMethod)
        if isPassword { exchanges.withLock { $0[task.taskIdentifier]?.isChallenged = true } }
        completionHandler(isPassword ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        begin(dataTask, response)
        completionHandler(.allow)
    }

    private func begin(_ task: URLSessionTask, _ response: URLResponse?) {
        guard let sink = exchanges.withLock({ $0[task.taskIdentifier]?.sink }),
            let response = response as? HTTPURLResponse
        else { return }
        let isSinking = sink.begin(ClientResponse(status: response.statusCode, fields: Self.fields(of: response)))
        exchanges.withLock { $0[task.taskIdentifier]?.isSinking = isSinking }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let sink = exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier].flatMap { $0.isSinking ? $0.sink : nil }
        }
        if let sink { return hand(data, to: sink, dataTask) }
        let isTooLong = exchanges.withLock {
            $0[dataTask.taskIdentifier]?.collect(data, limit: Self.bodyLimit) ?? false
        }
        if isTooLong { cancel(dataTask) }
    }

    /// Cancels a task on a new thread.
    ///
    /// The delegate's queue is not used, because the session may be waiting for that queue. No existing thread is used,
    /// because the call may wait for the session and would hold up the other work of that thread.
    private func cancel(_ task: URLSessionTask) {
        Thread.detachNewThread { task.cancel() }
    }

    private func hand(_ data: Data, to sink: any ResponseSink, _ task: URLSessionTask) {
        guard !exchanges.withLock({ $0[task.taskIdentifier]?.isUnwanted ?? true }) else { return }
        for region in data.regions where !region.withUnsafeBytes({ sink.receive($0) }) {
            exchanges.withLock { $0[task.taskIdentifier]?.isUnwanted = true }
            return cancel(task)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.answer.resume(returning: answer(to: exchange, task.response, error))
    }

    private func answer(to exchange: Exchange, _ response: URLResponse?, _ error: (any Error)?) -> Answer {
        if exchange.isTooLong {
            return .failure(ClientTransportError(.unreachable, mayHaveBeenProcessed: true, "The answer is too long."))
        }
        if exchange.isUnwanted {
            return .failure(
                ClientTransportError(.cancelled, mayHaveBeenProcessed: true, "The rest of the answer is not wanted."))
        }
        // On Linux a rejected challenge looks like a cancelled task, and the response is lost, so a response with the
        // status 401 is created here.
        if error != nil, exchange.isChallenged { return .success(ClientResponse(status: 401)) }
        if let error { return .failure(ClientTransportError(error)) }
        guard let response = response as? HTTPURLResponse else {
            return .failure(ClientTransportError(.unreachable, mayHaveBeenProcessed: true, "The answer is not HTTP."))
        }
        return .success(
            ClientResponse(status: response.statusCode, fields: Self.fields(of: response), body: exchange.body))
    }

    private static func fields(of response: HTTPURLResponse) -> [String: String] {
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields {
            fields[name.lowercased()] = value
        }
        return fields
    }
}

extension ClientTransportError {
    /// Returns true if the server's certificate was rejected.
    ///
    /// On Linux only the text of libcurl's error message shows that a certificate was rejected.
    private static func isOfCertificate(_ error: any Error) -> Bool {
        ["SSL certificate problem", "SSL: no alternative certificate", "SSL: certificate subject name"].contains {
            error.localizedDescription.hasPrefix($0)
        }
    }

    /// Creates the client's error for an error that `URLSession` reports.
    ///
    /// Only the error code is kept, because descriptions of URL errors contain URLs, which contain device tokens.
    init(_ error: any Error) {
        let code = (error as? URLError)?.code ?? .unknown
        let detail = "URLError \(code.rawValue)"
        switch code {
        case .cancelled: self.init(.cancelled, mayHaveBeenProcessed: true, detail)
        case .timedOut: self.init(.timedOut, mayHaveBeenProcessed: true, detail)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            self.init(.insecure, mayHaveBeenProcessed: false, detail)
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet:
            self.init(.unreachable, mayHaveBeenProcessed: false, detail)
        case .unknown where Self.isOfCertificate(error):
            self.init(.insecure, mayHaveBeenProcessed: false, detail)
        default: self.init(.unreachable, mayHaveBeenProcessed: true, detail)
        }
    }
}
