import MartletHTTP
import Synchronization

/// Answers with a closure, and takes bodies up to a limit.
struct ClosureHandler: HTTPHandler {
    var limit = 1024
    let answer: @Sendable (HTTPRequest) async -> HTTPResponse

    func bodyLimit(for head: HTTPRequest) -> Int { limit }
    func respond(to request: HTTPRequest) async -> HTTPResponse { await answer(request) }

    /// Answers 200 with method, target and body.
    static let echo = ClosureHandler { request in
        let text = "\(request.method.rawValue) \(request.target) \(String(decoding: request.body, as: UTF8.self))"
        return HTTPResponse(.ok, fields: ["content-type": "text/plain"], body: .bytes(Array(text.utf8)))
    }
}

/// Something that happens once and is waited for.
final class Signal: Sendable {
    private let state = Mutex<(isSet: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func set() {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state = (true, [])
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiting.append(continuation) }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
    }
}
