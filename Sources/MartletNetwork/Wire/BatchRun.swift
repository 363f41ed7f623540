import MartletHTTP

/// A batch that is being sent. Client protocols draw items from the batch: they take the items, send them and report
/// the results. Owned by one loop.
///
/// Every item gets exactly one result: a protocol that drew an item either reports a result or gives the item back.
final class BatchRun {
    let batch: RequestBatch
    /// The flow of the batch, for the batch scheduler.
    ///
    /// A batch without a flow gets a flow of its own: the address of this object, which is unique while the object
    /// exists.
    private var flow: UInt64 { batch.flow ?? UInt64(UInt(bitPattern: ObjectIdentifier(self))) }
    /// The time when the batch was started. The batch scheduler prefers older batches.
    private let start: ContinuousClock.Instant
    /// The deadline, after which no item is sent.
    let deadline: ContinuousClock.Instant
    /// The maximum time to wait for an answer after its request was written.
    let answerTime: Duration
    private let results: @Sendable (ResultPortion) -> Void
    private let completed: () -> Void

    private var fresh: Int = 0
    private var returned: [UInt32] = []
    /// The items that were given back because the peer ended their connection without answering anything after the item
    /// was sent. They are drawn after all other items, because one of them may have caused the peer to end the
    /// connection.
    private var suspects: [UInt32] = []
    /// The items that were drawn from `suspects` and have no result yet.
    private var suspectsInFlight: Set<UInt32> = []
    private var portion = ResultPortion()
    /// The error for items that will no longer be sent; nil while the batch runs.
    private var refusal: TransportError?
    /// The number of items whose results have been reported.
    private(set) var reported = 0

    /// Creates the run of a batch.
    /// - Parameters:
    ///   - now: The current time. The time from now to the deadline is also the time limit of each answer.
    ///   - completed: Called once, after the last results were reported.
    init(
        _ batch: RequestBatch, from now: ContinuousClock.Instant, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void, completed: @escaping () -> Void
    ) {
        self.batch = batch
        start = now
        self.deadline = deadline
        answerTime = max(.zero, deadline - now)
        self.results = results
        self.completed = completed
    }

    /// True if the results of all items have been reported.
    var isComplete: Bool { reported == batch.count }

    /// True if there are items that no connection has drawn.
    var hasItems: Bool { fresh < batch.count || !returned.isEmpty || !suspects.isEmpty }

    /// The status of the batch for the batch scheduler: a batch is short if all its items fit into one turn.
    var status: BatchScheduler.BatchState {
        if !hasItems { return .empty }
        return batch.count <= BatchScheduler.portion ? .short(since: start) : .long(flow: flow, since: start)
    }

    /// The number of items that no connection has drawn, including those that were given back.
    var waiting: Int { batch.count - fresh + returned.count + suspects.count }

    /// Draws an item to send; nil if no item is left to draw, or if the batch is to be stopped.
    func next() -> Int? { stopsNow ? nil : draw() }

    /// True if the stop signal of the batch is set. In that case, also stops the batch. The signal is checked at each
    /// draw, because the end of a `SendingLease` also sets it, but calls no action at that time.
    private var stopsNow: Bool {
        guard let signal = batch.stop, signal.isStopped else { return false }
        if refusal == nil { stop() }
        return true
    }

    private func draw() -> Int? {
        if let item = returned.popLast() { return Int(item) }
        if fresh < batch.count {
            fresh += 1
            return fresh - 1
        }
        guard let suspect = suspects.popLast() else { return nil }
        suspectsInFlight.insert(suspect)
        return Int(suspect)
    }

    /// Returns items that were never drawn. The caller then draws them with `draw(_:)`. The range is empty while there
    /// are items that were given back, because those are drawn first.
    func fresh(atMost count: Int) -> Range<Int> {
        guard returned.isEmpty, !stopsNow else { return fresh..<fresh }
        return fresh..<fresh + min(max(0, count), batch.count - fresh)
    }

    /// Draws the first `count` of the items that `fresh(atMost:)` returned.
    func draw(_ count: Int) {
        fresh += count
    }

    /// Gives back an item that the peer did not process.
    ///
    /// The item is sent again, on this or another connection.
    func giveBack(_ item: Int) {
        if let refusal { return answered(item, .failure(refusal)) }
        returned.append(UInt32(item))
    }

    /// Gives back an item that the peer did not process, because the peer has ended the connection (GOAWAY).
    ///
    /// The item is sent again. An item becomes suspect if the peer ended its connection without answering anything
    /// after the item was sent. If the same happens on the next connection, the item fails: it may be the reason why
    /// the peer ends connections, and would end every further connection.
    /// - Parameters:
    ///   - hasAnswered: Whether the peer has answered anything on the connection after the item was sent.
    ///   - connection: The number of the connection.
    func giveBack(_ item: Int, hasAnswered: Bool, _ error: TransportError, from connection: Int) {
        let wasSuspect = suspectsInFlight.remove(UInt32(item)) != nil
        if hasAnswered || refusal != nil { return giveBack(item) }
        if wasSuspect { return answered(item, .failure(error), on: connection) }
        suspects.append(UInt32(item))
    }

    /// Returns whether the response to an item is a plain success.
    func isPlainSuccess(_ response: HTTPResponse, of item: Int) -> Bool {
        response.bytes.withUnsafeBytes { body in
            batch.shared.plainSuccess.covers(
                response.status, body, fields: response.fields.values(of:), of: item, in: batch)
        }
    }

    /// Records a plain success: the item was answered with status 200 and no other useful information.
    func succeeded(_ item: Int) {
        portion.plainSuccesses.append(UInt32(item))
    }

    func succeeded(_ items: [UInt32]) {
        portion.plainSuccesses += items
    }

    /// Records the result of an item.
    /// - Parameter connection: The number of the connection; nil if the item was never sent.
    func answered(_ item: Int, _ result: Result<HTTPResponse, TransportError>, on connection: Int? = nil) {
        portion.answers.append(ResultPortion.Answer(index: item, result: result, connection: connection))
    }

    /// Reports the results recorded since the last call. A protocol calls this at the end of `receive`, `expire` and
    /// `ended`.
    func flush() {
        guard portion.count > 0 else { return }
        let reported = portion
        portion = ResultPortion()
        self.reported += reported.count
        results(reported)
        if self.reported == batch.count { completed() }
    }

    /// Stops the batch.
    ///
    /// Items that no connection has drawn are reported at once. Drawn items that a connection later gives back are
    /// reported at that time.
    /// - Parameter error: The error of the items that are not sent.
    func stop(_ error: TransportError = .stopped) {
        end(error)
    }

    /// Handles the passing of the deadline.
    ///
    /// Items that no connection has drawn are reported at once. Drawn items that a connection later gives back are
    /// reported at that time.
    func runOut() {
        end(TransportError(.timedOut, mayHaveBeenProcessed: false, "there was no connection in time"))
    }

    private func end(_ error: TransportError) {
        refusal = error
        abandon(error)
    }

    /// Reports every item that no connection has drawn as failed.
    func abandon(_ error: TransportError) {
        while let item = draw() { answered(item, .failure(error)) }
        flush()
    }
}

extension TransportError {
    static let stopped = TransportError(
        .cancelled, mayHaveBeenProcessed: false, "it was stopped before the request was sent")
}
