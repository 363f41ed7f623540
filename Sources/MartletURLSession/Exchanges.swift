import Foundation
import MartletClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Collects the answers of a session's tasks.
///
/// `URLSession`'s own asynchronous calls follow redirects on Linux without asking; only a delegate is asked everywhere.
final class Exchanges: NSObject, URLSessionDataDelegate {
    typealias Answer = Result<ClientResponse, ClientTransportError>

    private struct Exchange {
        let answer: CheckedContinuation<Answer, Never>
        /// Takes the body where it wants it; the session calls its delegate once at a time.
        let sink: (any ResponseSink)?
        var isSinking = false
        var isUnwanted = false
        var body: [UInt8] = []
        var isTooLong = false
        var isChallenged = false

        /// - Returns: Whether that makes it longer than it may be.
        mutating func collect(_ data: Data, limit: Int) -> Bool {
            guard !isTooLong else { return false }
            isTooLong = body.count + data.count > limit
            if !isTooLong { body += data }
            return isTooLong
        }
    }

    /// The longest body of an answer, in bytes; the backend's are far below.
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

    /// A server that asks for a password gets none here: its 401 is the answer.
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

    /// Not on the delegate's queue: the session may be waiting for that. Nor on a thread that others need meanwhile.
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
        // On Linux a challenge that is turned down looks like a cancelled task, and the response is lost.
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
    /// Whether the server's certificate was turned down. On Linux libcurl's sentence alone tells that.
    private static func isOfCertificate(_ error: any Error) -> Bool {
        ["SSL certificate problem", "SSL: no alternative certificate", "SSL: certificate subject name"].contains {
            error.localizedDescription.hasPrefix($0)
        }
    }

    /// Takes the code alone: descriptions of URL errors hold addresses, and those hold device tokens.
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
