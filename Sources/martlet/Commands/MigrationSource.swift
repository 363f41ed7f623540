import MartletHTTP
import MartletModel
import MartletServer
import Synchronization

/// The hub in Azure from which devices are copied.
final class MigrationSource: Sendable {
    /// The result of reading an installation from the source.
    enum Item: Sendable {
        case document([UInt8])
        /// The document is larger than an installation may be. It was not read.
        case tooLarge
        case absent
    }

    /// The number of registrations that are requested with each page. The server to which the page is sent refuses a
    /// page that has more.
    private static let pageLimit = 100
    /// The maximum length of the document of an installation, in bytes. The source may write the document with more
    /// white space than the server does.
    private static let installationLimit = Installation.sizeLimit + 8192

    /// The name of the source hub in output; it contains no secret.
    let name: String
    private let client: SignedHubClient
    private let hub: String
    private let interval: Duration
    /// The time at which the next request may be sent.
    private let next = Mutex(ContinuousClock.now)
    /// The time at which the last reported delay ends.
    private let reported = Mutex(ContinuousClock.now)
    private let report: @Sendable (String) -> Void

    init(_ invocation: Invocation) throws {
        let text = try invocation.required("connection-string")
        let plain = invocation["source-hub"] ?? invocation.operand("HUB")
        hub = segment(plain)
        client = try SignedHubClient(text, hub: hub, version: .http1, invocation)
        name = "\(client.address)/\(plain)"
        let rate = try invocation.required("rate", as: "a number from 1 to 1000") { text in
            Int(text).flatMap { (1...1000).contains($0) ? $0 : nil }
        }
        interval = .seconds(1) / rate
        report = { invocation.report($0) }
    }

    /// Reads a page of the registrations.
    /// - Returns: nil if the source does not know the token.
    func page(after token: String?) async throws -> (body: [UInt8], next: String?)? {
        // Azure's continuation tokens are percent-encoded already. So a token is encoded here only if it has a
        // character that would break the query, such as `&` or a space.
        let isEncoded = token?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") } ?? true
        let item = token.map { "&continuationtoken=\(isEncoded ? $0 : segment($0))" } ?? ""
        let response = try await get("registrations?api-version=2020-06&$top=\(Self.pageLimit)\(item)")
        if token != nil, [400, 404, 410].contains(response.status.code) { return nil }
        try check(response)
        let next = response.fields["x-ms-continuationtoken"].flatMap { $0.isEmpty ? nil : $0 }
        return (response.bytes, next)
    }

    /// Reads the document of an installation.
    func installation(_ id: String) async throws -> Item {
        try await item("installations", id)
    }

    /// Returns whether the source has no registration, or no installation, with this id.
    /// - Parameter kind: `registrations` or `installations`.
    func hasNo(_ kind: String, _ id: String) async throws -> Bool {
        if case .absent = try await item(kind, id) { return true }
        return false
    }

    private func item(_ kind: String, _ id: String) async throws -> Item {
        let response: HTTPResponse
        do {
            response = try await get(
                "\(kind)/\(segment(id))?api-version=2020-06", answerLimit: Self.installationLimit)
        } catch is TooLong {
            return .tooLarge
        }
        if [404, 410].contains(response.status.code) { return .absent }
        try check(response)
        return .document(response.bytes)
    }

    /// The source's answer is longer than the limit of the request.
    private struct TooLong: Error {}

    private func check(_ response: HTTPResponse) throws {
        guard !response.status.isSuccess else { return }
        let reason =
            switch response.status.code {
            case 401, 403: "the connection string needs the right Manage"
            case 404: "there is no such hub; --source-hub names it"
            default: "see the metrics of the source"
            }
        throw ServerError("\(name) answered \(response.status.code): \(reason).")
    }

    /// Sends a request. If the request fails and a repetition can help, sends it again after a wait.
    /// - Parameter answerLimit: The maximum length of the answer; nil for the limit of the client.
    /// - Throws: `TooLong` if the answer is longer than `answerLimit`; `ServerError`.
    private func get(_ target: String, answerLimit: Int? = nil) async throws -> HTTPResponse {
        for attempt in 1... {
            try await Task.sleep(until: turn())
            let (response, failure) = try await answer(to: target, answerLimit)
            let wait = SourceRetry.wait(
                status: response.map { Int($0.status.code) }, retryAfter: response?.fields["retry-after"],
                attempt: attempt)
            guard let wait else {
                guard let response else { throw failure }
                return response
            }
            hold(seconds: wait, because: failure)
        }
        throw ServerError("\(name) does not answer.")
    }

    /// Sends a request once.
    /// - Returns: The answer, or nil if there is none; and an error that states the status of the answer, or why there
    ///   is no answer. The error is for the report of a repetition.
    /// - Throws: `TooLong` if the answer is longer than `answerLimit`; `ServerError` if repeating the request cannot
    ///   help.
    private func answer(to target: String, _ answerLimit: Int?) async throws -> (HTTPResponse?, ServerError) {
        switch try await client.attempt(.get, "/\(hub)/\(target)", answerLimit: answerLimit) {
        case .success(let response): return (response, ServerError("\(name) answered \(response.status.code)."))
        case .failure(let error):
            if error.kind == .misbehaved, answerLimit != nil { throw TooLong() }
            guard SourceRetry.mayPass(error.kind) else { throw client.failure(error) }
            return (nil, client.failure(error))
        }
    }

    /// Delays all requests to the source, because one of them has failed and is to be repeated after a wait. A delay is
    /// reported once, and not by every request that is delayed.
    private func hold(seconds: Int, because failure: ServerError) {
        let end = ContinuousClock.now + .seconds(seconds)
        next.withLock { $0 = max($0, end) }
        let isNew = reported.withLock { last in
            guard end > last + .milliseconds(500) else { return false }
            last = end
            return true
        }
        if isNew { report("martlet: \(failure.description) Asks again in \(seconds) s.") }
    }

    /// Returns the next time at which a request may be sent without exceeding the rate, and reserves that time.
    private func turn() -> ContinuousClock.Instant {
        next.withLock { next in
            let turn = max(next, .now)
            next = turn + interval
            return turn
        }
    }
}
