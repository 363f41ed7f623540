import MartletHTTP
import Synchronization

/// Answers with a closure, and takes bodies up to a limit.
struct ClosureHandler: HTTPHandler {
    var limit = 1024
    let answer: @Sendable (HTTPRequest) async -> HTTPResponse

    func route(for head: HTTPRequest) -> HTTPRoute { HTTPRoute(bodyLimit: limit, respond: answer) }

    /// Answers 200 with method, target and body.
    static let echo = ClosureHandler { request in
        let text = "\(request.method.rawValue) \(request.target) \(String(decoding: request.body, as: UTF8.self))"
        return HTTPResponse(.ok, fields: ["content-type": "text/plain"], body: .bytes(Array(text.utf8)))
    }
}

/// Reads a body to its end and then writes as many bytes as it had, both in pieces.
struct StreamEcho: HTTPHandler {
    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(bodyLimit: 1 << 24, streamsBody: true) { await respond(to: $0) }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        var pieces: [[UInt8]] = []
        do throws(HTTPBodyError) {
            while let piece = try await request.reader.read() { pieces.append(piece) }
        } catch {
            return HTTPResponse(.badRequest)
        }
        let whole = pieces
        return HTTPResponse(
            .ok,
            body: .stream(length: whole.reduce(0) { $0 + $1.count }) { writer in
                for piece in whole { try await writer.write(piece) }
            })
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
