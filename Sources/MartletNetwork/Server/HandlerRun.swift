import MartletHTTP

/// Answers the requests of a connection with a handler, each in a task on the connection's loop.
final class HandlerDispatch: RequestDispatch {
    private let handler: any HTTPHandler
    private let loop: EventLoop

    init(_ handler: any HTTPHandler, loop: EventLoop) {
        self.handler = handler
        self.loop = loop
    }

    func route(for head: HTTPRequest) -> HTTPRoute {
        handler.route(for: head)
    }

    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest {
        let run = HandlerRun(stream, loop: loop)
        var request = request
        request.stream = body.map { LoopBodyReader(body: LoopBound($0, loop: loop)) }
        run.start(route, request)
        return run
    }
}

/// One request that a handler is answering. Owned by the loop.
final class HandlerRun: RunningRequest {
    private let loop: EventLoop
    private var stream: (any ResponseStream)?
    private var task: Task<Void, Never>?
    private var hasRoom = true
    private var isCancelled = false
    /// The number of bytes that the handler must still write of a streamed response with a declared length; nil for
    /// other responses.
    private var left: Int?
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    init(_ stream: any ResponseStream, loop: EventLoop) {
        self.stream = stream
        self.loop = loop
    }

    func start(_ route: HTTPRoute, _ request: HTTPRequest) {
        let run = LoopBound(self, loop: loop)
        task = Task(executorPreference: loop) {
            let response = await route.respond(request)
            switch response.body {
            case .bytes: run.value.finish { $0.send(response) }
            case .stream(let length, let write):
                run.value.stream?.sendHead(response)
                guard request.method != .head else { return run.value.finish { $0.finish() } }
                run.value.left = length
                do {
                    try await write(StreamWriter(run: run))
                    let isWhole = run.value.left ?? 0 == 0
                    run.value.finish { isWhole ? $0.finish() : $0.cut() }
                } catch {
                    run.value.finish { $0.cut() }
                }
            case .webSocket(let serve):
                guard let session = run.value.openWebSocket(response) else { return }
                let socket = LoopWebSocket(session: LoopBound(session, loop: run.loop))
                await serve(socket)
                socket.close(code: WebSocketCode.normal)
            }
        }
    }

    /// Switches the connection to a WebSocket.
    /// - Returns: The session; nil if the request does not open a WebSocket. An error response was then sent.
    private func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        let last = stream
        stream = nil
        return last?.openWebSocket(response)
    }

    private func finish(_ action: (any ResponseStream) -> Void) {
        let last = stream
        stream = nil
        task = nil
        if let last { action(last) }
    }

    /// Writes bytes of a streamed body. Resumes the continuation as soon as the handler may write again. Resumes it
    /// with `CancellationError` if the request was cancelled, or if the bytes exceed the declared length.
    fileprivate func write(_ bytes: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard let stream, !isCancelled, takesCount(of: bytes) else {
            return continuation.resume(throwing: CancellationError())
        }
        hasRoom = stream.sendBody(bytes)
        if hasRoom { continuation.resume() } else { waiting.append(continuation) }
    }

    /// Counts bytes of a streamed response against its declared length.
    /// - Returns: True if the bytes do not exceed the declared length.
    private func takesCount(of bytes: [UInt8]) -> Bool {
        guard let left else { return true }
        guard bytes.count <= left else { return false }
        self.left = left - bytes.count
        return true
    }

    func roomAppeared() {
        hasRoom = true
        let ready = waiting
        waiting = []
        for continuation in ready { continuation.resume() }
    }

    func cancel() {
        stream = nil
        stopWaiting()
        task?.cancel()
        task = nil
    }

    fileprivate func stopWaiting() {
        isCancelled = true
        let stopped = waiting
        waiting = []
        for continuation in stopped { continuation.resume(throwing: CancellationError()) }
    }
}

/// A body writer that handlers can use on any thread.
private struct StreamWriter: HTTPBodyWriter {
    let run: LoopBound<HandlerRun>

    func write(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                run.loop.perform { run.value.write(bytes, continuation) }
            }
        } onCancel: {
            run.loop.perform { run.value.stopWaiting() }
        }
    }
}
