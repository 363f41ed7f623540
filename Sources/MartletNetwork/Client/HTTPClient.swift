public import MartletHTTP
import Synchronization

/// Sends requests over pools of HTTP/1.1 and HTTP/2 connections.
///
/// A pool belongs to one loop and serves requests with the same origin and settings. All single requests to an origin
/// use the same loop, so that they share a connection; batches are assigned to the loops with the least load.
public final class HTTPClient: HTTPTransport, Sendable {
    private let limits: ClientLimits
    private let clients: [LoopBound<LoopClient>]
    private let groups = Mutex<[PoolGroup.Key: PoolGroup]>([:])

    public init(loops: EventLoopGroup, limits: ClientLimits = ClientLimits()) {
        self.limits = limits
        let contexts = TLSContextCache()
        clients = loops.loops.map { loop in
            let client = LoopClient(loop: loop) { key throws(TransportError) in
                try Self.target(key, limits: limits, contexts: contexts)
            }
            return LoopBound(client, loop: loop)
        }
    }

    private static func target(
        _ key: PoolGroup.Key, limits: ClientLimits, contexts: TLSContextCache
    ) throws(TransportError) -> Connector.Target {
        do throws(NetworkError) {
            let context = key.origin.scheme == .https ? try contexts.context(for: key.settings) : nil
            return Connector.Target(
                origin: key.origin, version: key.settings.version, context: context,
                addresses: key.settings.addresses, unixPath: key.unixPath, limits: limits)
        } catch {
            throw TransportError(error, key.origin)
        }
    }

    deinit {
        // Objects owned by a loop must be released on that loop.
        for client in clients { client.loop.perform { client.value.stop() } }
    }

    /// Closes all connections. Requests that wait for a connection fail with `.shutDown`, requests in flight with
    /// `.disconnected`.
    public func shutDown() async {
        for client in clients { await client.loop.run { client.value.stop() } }
    }

    /// The number of open connections, keyed by `TransportSettings.purpose`.
    public var openCounts: [String: Int] {
        get async {
            var counts: [String: Int] = [:]
            for client in clients {
                counts.merge(await client.loop.run { client.value.openCounts }, uniquingKeysWith: +)
            }
            return counts
        }
    }

    // MARK: Pool groups

    private func group(_ key: PoolGroup.Key) -> PoolGroup {
        groups.withLock { groups in
            if let group = groups[key] { return group }
            if groups.count >= PoolGroup.limit { groups = groups.filter { !$0.value.isIdle } }
            let group = PoolGroup(key, loopCount: clients.count)
            groups[key] = group
            return group
        }
    }

    // MARK: Batches

    public func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        guard batch.count > 0 else { return }
        let group = group(PoolGroup.Key(batch.shared.origin, batch.shared.settings))
        let index = group.nextIndex()
        let client = clients[group.loop(of: index)]
        let load = group.loads[index]
        load.add(batch.count)
        let results: @Sendable (ResultPortion) -> Void = { portion in
            load.remove(portion.count)
            results(portion)
        }
        await withCheckedContinuation { continuation in
            client.loop.perform {
                let pool = Result { () throws(TransportError) in try client.value.pool(of: group, at: index) }
                var timer: TimerID?
                var stopping: StopSignal.Registration?
                let run = BatchRun(batch, from: client.loop.now, before: deadline, results: results) {
                    if let timer { client.loop.cancelTimer(timer) }
                    if let stopping { batch.stop?.remove(stopping) }
                    continuation.resume()
                    // The batch is removed only at the end of the loop's iteration, because the pool may be iterating
                    // over its batches.
                    client.loop.atEndOfTurn { (try? pool.get())?.removeComplete() }
                }
                switch pool {
                case .success where batch.stop?.isStopped == true: run.stop()
                case .success(let pool):
                    pool.add(run)
                    stopping = Self.stop(run, by: batch.stop, loop: client.loop)
                    timer = Self.limitTime(of: run, loop: client.loop)
                case .failure(let error): run.abandon(error)
                }
            }
        }
    }

    private static func stop(_ run: BatchRun, by signal: StopSignal?, loop: EventLoop) -> StopSignal.Registration? {
        guard let signal, !run.isComplete else { return nil }
        let bound = LoopBound(run, loop: loop)
        return signal.onStop { loop.perform { bound.value.stop() } }
    }

    /// Starts a timer for the deadline of a batch. At the deadline, the items that no connection has drawn fail. A
    /// connection itself times out the items that it has drawn.
    ///
    /// The timer must be cancelled when the batch is complete, because it holds a strong reference to the batch. A weak
    /// reference would slow down all other references to the batch.
    private static func limitTime(of run: BatchRun, loop: EventLoop) -> TimerID? {
        guard !run.isComplete else { return nil }
        return loop.startTimer(due: run.deadline) { run.runOut() }
    }

    // MARK: Single requests

    public func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings = TransportSettings(),
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        try await send(request, PoolGroup.Key(origin, settings), before: deadline)
    }

    /// Sends one request over a Unix socket and waits for the response.
    public func send(
        _ request: HTTPRequest, toUnixPath path: String, before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        let origin = HTTPOrigin(scheme: .http, host: "localhost")
        let settings = TransportSettings(version: .http1)
        return try await send(
            request, PoolGroup.Key(origin, settings, unixPath: path), before: deadline)
    }

    private func send(
        _ request: HTTPRequest, _ key: PoolGroup.Key, before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        let limit = request.answerLimit ?? limits.bodyBytes
        return try await exchange(request, key, before: deadline) { finish in
            ResponseCollector(limit: limit, completed: finish)
        }
    }

    /// Sends one request and streams the response body as it arrives, for example server-sent events.
    ///
    /// The body ends with an error if the connection breaks, or if too much unread data accumulates because the reader
    /// is slow. The request is cancelled if the reader stops reading.
    /// - Parameter deadline: The deadline for the head of the response. The body has no time limit.
    public func stream(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings = TransportSettings(),
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> (head: HTTPResponse, body: AsyncThrowingStream<[UInt8], any Error>) {
        let (body, pieces) = AsyncThrowingStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(StreamReceiver.limit))
        let key = PoolGroup.Key(origin, settings)
        let head = try await exchange(request, key, before: deadline) { (finish, exchange) in
            pieces.onTermination = { _ in exchange.loop.perform { exchange.value.cancel() } }
            return StreamReceiver(pieces, headed: finish)
        }
        return (head, body)
    }

    /// Receives the body of a response as it arrives.
    public struct Sink: Sendable {
        /// Called with the head of the response. Returns true to receive the body in pieces, or false to have it
        /// collected in the response.
        let begin: @Sendable (HTTPResponse) -> Bool
        /// Called with the next piece of the body, which is valid only during the call. Returns true to continue.
        let receive: @Sendable (UnsafeRawBufferPointer) -> Bool

        /// Creates a sink.
        ///
        /// The closures are called one at a time on the connection's loop. They block the loop while they run.
        /// - Parameters:
        ///   - begin: Called with the head of the response. Returns true to receive the body in pieces, or false to
        ///     have it collected in the response.
        ///   - receive: Called with each piece of the body, which is valid only during the call. Returns true to
        ///     continue.
        public init(
            begin: @escaping @Sendable (HTTPResponse) -> Bool,
            receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
        ) {
            self.begin = begin
            self.receive = receive
        }
    }

    /// Sends one request whose request body or response body is too large for memory.
    ///
    /// The upload is read, and the sink's closures run, on the connection's loop. Both block the loop, so this function
    /// is meant for command-line programs. A request with an `upload` uses HTTP/1.1.
    /// - Parameters:
    ///   - patience: The maximum time without progress of the transfer.
    ///   - sink: Receives the body of the response if its `begin` returns true.
    /// - Returns: The response. If the sink received the body, the response has no body.
    public func transfer(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings = TransportSettings(),
        patience: Duration, sink: Sink
    ) async throws(TransportError) -> HTTPResponse {
        var settings = settings
        if request.upload != nil { settings.version = .http1 }
        return try await transfer(
            request, PoolGroup.Key(origin, settings), patience: patience, sink: sink)
    }

    /// Sends a request like `transfer(_:to:settings:patience:sink:)`, but over a Unix socket.
    public func transfer(
        _ request: HTTPRequest, toUnixPath path: String, patience: Duration, sink: Sink
    ) async throws(TransportError) -> HTTPResponse {
        let origin = HTTPOrigin(scheme: .http, host: "localhost")
        let settings = TransportSettings(version: .http1)
        return try await transfer(
            request, PoolGroup.Key(origin, settings, unixPath: path), patience: patience, sink: sink)
    }

    private func transfer(
        _ request: HTTPRequest, _ key: PoolGroup.Key, patience: Duration, sink: Sink
    ) async throws(TransportError) -> HTTPResponse {
        let limit = request.answerLimit ?? limits.bodyBytes
        return try await exchange(request, key, before: .now + patience, patience: patience) { (finish, exchange) in
            TransferReceiver(
                to: sink, limit: limit, progressed: { exchange.value.progressed() },
                given: { exchange.value.cancel() }, completed: finish)
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ key: PoolGroup.Key, before deadline: ContinuousClock.Instant,
        receiver: @escaping @Sendable (@escaping ClientExchange.Finish) -> any ResponseReceiver
    ) async throws(TransportError) -> HTTPResponse {
        try await exchange(request, key, before: deadline) { finish, _ in receiver(finish) }
    }

    private func exchange(
        _ request: HTTPRequest, _ key: PoolGroup.Key, before deadline: ContinuousClock.Instant,
        patience: Duration? = nil,
        receiver:
            @escaping @Sendable (@escaping ClientExchange.Finish, LoopBound<ClientExchange>) -> any ResponseReceiver
    ) async throws(TransportError) -> HTTPResponse {
        let group = group(key)
        let client = clients[group.loop(of: 0)]
        let cancellation = Mutex<(exchange: LoopBound<ClientExchange>?, isCancelled: Bool)>((nil, false))
        let result: Result<HTTPResponse, TransportError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                client.loop.perform {
                    let exchange = ClientExchange(loop: client.loop, patience: patience) {
                        continuation.resume(returning: $0)
                    }
                    let bound = LoopBound(exchange, loop: client.loop)
                    let isCancelled = cancellation.withLock { cancellation in
                        cancellation.exchange = bound
                        return cancellation.isCancelled
                    }
                    if isCancelled { return exchange.cancel() }
                    do throws(TransportError) {
                        let pool = try client.value.pool(of: group, at: 0)
                        let receiver = receiver({ exchange.finish($0) }, bound)
                        var request = request
                        request.upload = request.upload.map { upload in
                            HTTPUpload(length: upload.length) { offset, count in
                                bound.value.progressed()
                                return try upload.read(offset, count)
                            }
                        }
                        exchange.start(request, in: pool, receiver: receiver, before: deadline)
                    } catch {
                        exchange.finish(.failure(error))
                    }
                }
            }
        } onCancel: {
            let exchange = cancellation.withLock { cancellation in
                cancellation.isCancelled = true
                return cancellation.exchange
            }
            guard let exchange else { return }
            exchange.loop.perform { exchange.value.cancel() }
        }
        return try result.get()
    }
}
