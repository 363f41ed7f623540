import MartletCore
import MartletHTTP
import MartletModel
import MartletPush

/// Answers the requests on the listener of one simulated service, or performs a fault instead.
struct ServiceHandler: HTTPHandler {
    /// The maximum size of a body that is read, in bytes.
    ///
    /// This is more than any service accepts, so that the simulated service itself can refuse a body that is too large
    /// for it.
    private static let bodyLimit = 64 * 1024
    /// How long a request is kept open if a fault leaves it unanswered and the sender does not give up earlier.
    private static let patience: Duration = .seconds(600)

    let platform: PlatformID
    let state: SimulatorState
    let connections: ServiceConnections

    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(bodyLimit: Self.bodyLimit, streamsBody: state.looksAtHeads(of: platform)) { await respond(to: $0) }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        var request = request
        if let body = request.stream {
            guard let collected = await collect(body, of: request) else { return await hold() }
            request.body = collected
        }
        // When a connection closes, perhaps after a GOAWAY, its requests are cancelled before it is removed from
        // `connections`. So both conditions are checked here.
        guard connections.takes(request), !Task.isCancelled else { return await hold() }
        let verdict = state.judge(request, of: platform)
        if verdict.answer != nil { connections.judged(request) }
        connections.carryOut(verdict.fault, on: request)
        // A reset loses the answers of the turn in which it happens, so their requests count as open until it has ended.
        defer { connections.afterAnswer(to: request) { [state, platform] in state.requestEnded(of: platform) } }
        return await give(verdict, to: request)
    }

    /// Reads the body of a request, unless a fault resets the connection before or while the body is read.
    /// - Returns: The body; nil if the connection was reset, or if the body did not arrive.
    private func collect(_ body: any HTTPBodyReader, of request: HTTPRequest) async -> [UInt8]? {
        let stage = state.headFault(request, of: platform)
        if stage == .head {
            connections.carryOut(.reset(.head), on: request)
            return nil
        }
        var collected: [UInt8] = []
        do throws(HTTPBodyError) {
            while let piece = try await body.read() {
                collected += piece
                guard stage == nil else {
                    connections.carryOut(.reset(.body), on: request)
                    return nil
                }
            }
        } catch {
            return error == .tooLarge ? collected + [UInt8](repeating: 0, count: Self.bodyLimit) : nil
        }
        return collected
    }

    private func give(_ verdict: Verdict, to request: HTTPRequest) async -> HTTPResponse {
        switch (verdict.fault, verdict.answer) {
        case (.response(let fault), let answer): await spoil(answer, fault, for: request)
        case (.reset, _), (.unanswered, _), (_, nil): await hold()
        case (.slow(let time), let answer?): await give(answer, to: request, after: time)
        case (_, let answer?): await give(answer, to: request)
        }
    }

    private func give(
        _ answer: SimulatedAnswer, to request: HTTPRequest, after time: Duration = .zero
    ) async -> HTTPResponse {
        let delay = answer.delay + time
        if delay > .zero { try? await Task.sleep(for: delay) }
        connections.perform(answer.steps, on: request)
        return answer.steps.contains(.cut) ? await hold() : answer.response
    }

    /// Waits until the request is cancelled, but not longer than `patience`.
    private func hold() async -> HTTPResponse {
        try? await Task.sleep(for: Self.patience)
        return HTTPResponse(.serviceUnavailable)
    }

    // MARK: Invalid answers

    private func spoil(
        _ answer: SimulatedAnswer?, _ fault: ResponseFault, for request: HTTPRequest
    ) async -> HTTPResponse {
        let status = HTTPStatus(fault.status)
        switch fault.kind {
        case .html:
            let page = "<!DOCTYPE html><title>\(fault.status)</title><h1>Something is in the way</h1>"
            return HTTPResponse(status, fields: ["content-type": "text/html"], body: .bytes(Array(page.utf8)))
        case .empty: return HTTPResponse(status)
        case .redirect: return HTTPResponse(status, fields: ["location": "/elsewhere"])
        case .truncated:
            var response = answer?.response ?? HTTPResponse(status)
            let bytes = response.bytes
            response.body = .stream(length: bytes.count + 16) { writer in
                try await writer.write(Array(bytes.prefix(bytes.count / 2 + 1)))
                throw CancellationError()
            }
            return response
        case .wrongLength:
            return await misstateLength(of: answer?.response ?? HTTPResponse(status), for: request)
        }
    }

    /// Answers with a body whose length differs from the declared length.
    ///
    /// Over HTTP/1.1 the body is longer than declared. Over HTTP/2 it is shorter, which already makes the answer
    /// malformed.
    private func misstateLength(of response: HTTPResponse, for request: HTTPRequest) async -> HTTPResponse {
        let bytes = response.bytes + Array("and more than that".utf8)
        guard request.connection?.majorVersion == 1 else {
            var response = response
            response.body = .stream(length: bytes.count + 1) { try await $0.write(bytes) }
            return response
        }
        var head = "HTTP/1.1 \(response.status.code) Status\r\ncontent-length: \(response.bytes.count)\r\n"
        for field in response.fields { head += "\(field.name): \(field.value)\r\n" }
        connections.write(Array("\(head)\r\n".utf8) + bytes, on: request)
        return await hold()
    }
}
