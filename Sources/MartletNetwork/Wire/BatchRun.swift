import MartletHTTP

/// A batch on its way: client protocols draw items from it and tell what became of them. Owned by one loop.
///
/// Every item is told exactly once: a protocol that drew an item reports it or gives it back.
final class BatchRun {
    let batch: RequestBatch
    /// A batch without one is a flow of its own, by its address, which nobody else has while it is under way.
    private var flow: UInt64 { batch.flow ?? UInt64(UInt(bitPattern: ObjectIdentifier(self))) }
    /// When it came to be sent.
    private let start: ContinuousClock.Instant
    /// When nothing more of it is to be sent.
    let deadline: ContinuousClock.Instant
    /// How long an answer is waited for, from when its request was written.
    let answerTime: Duration
    private let results: @Sendable (ResultPortion) -> Void
    private let completed: () -> Void

    private var fresh: Int = 0
    private var returned: [UInt32] = []
    private var portion = ResultPortion()
    /// Why nothing more of it is to be sent.
    private var refusal: TransportError?
    /// How many items have been told.
    private(set) var reported = 0

    /// - Parameters:
    ///   - now: When it came; from then on the deadline is as far away as an answer may take.
    ///   - completed: Called once, after the last portion.
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

    /// Whether every item has been told.
    var isComplete: Bool { reported == batch.count }

    /// Whether there are items that nobody has drawn.
    var hasItems: Bool { fresh < batch.count || !returned.isEmpty }

    /// What it is to those who draw from several.
    var status: BatchScheduler.Standing {
        if !hasItems { return .empty }
        return batch.count <= BatchScheduler.portion ? .short(since: start) : .long(flow: flow, since: start)
    }

    /// How many items nobody has drawn.
    var waiting: Int { batch.count - fresh + returned.count }

    /// Takes an item to be sent.
    func next() -> Int? {
        if let item = returned.popLast() { return Int(item) }
        guard fresh < batch.count else { return nil }
        fresh += 1
        return fresh - 1
    }

    /// Items that nobody has drawn yet, to be drawn by `draw`; none while others were given back, which go first.
    func fresh(atMost count: Int) -> Range<Int> {
        returned.isEmpty ? fresh..<fresh + min(max(0, count), batch.count - fresh) : fresh..<fresh
    }

    /// Takes the first of what `fresh(atMost:)` told.
    func draw(_ count: Int) {
        fresh += count
    }

    /// The peer did not process the item: it is to be sent again, on this or another connection.
    func giveBack(_ item: Int) {
        if let refusal { return answered(item, .failure(refusal)) }
        returned.append(UInt32(item))
    }

    /// The item was answered with 200 and nothing that anybody needs.
    func succeeded(_ item: Int) {
        portion.plainSuccesses.append(UInt32(item))
    }

    func succeeded(_ items: [UInt32]) {
        portion.plainSuccesses += items
    }

    /// - Parameter connection: Its number; nil where the item was never sent.
    func answered(_ item: Int, _ result: Result<HTTPResponse, TransportError>, on connection: Int? = nil) {
        portion.answers.append(ResultPortion.Answer(index: item, result: result, connection: connection))
    }

    /// Tells what has come since the last call. A protocol calls it at the end of `receive`, `expire` and `ended`.
    func flush() {
        guard portion.count > 0 else { return }
        let reported = portion
        portion = ResultPortion()
        self.reported += reported.count
        results(reported)
        if self.reported == batch.count { completed() }
    }

    /// Nothing more of it is to be sent: what nobody has drawn is reported, and what is given back from now on.
    func stop() {
        end(.stopped)
    }

    /// The deadline has passed: what nobody has drawn is reported, and what is given back from now on.
    func runOut() {
        end(TransportError(.timedOut, mayHaveBeenProcessed: false, "there was no connection in time"))
    }

    private func end(_ error: TransportError) {
        refusal = error
        abandon(error)
    }

    /// Reports every item that nobody has drawn as failed.
    func abandon(_ error: TransportError) {
        while let item = next() { answered(item, .failure(error)) }
        flush()
    }
}

extension TransportError {
    fileprivate static let stopped = TransportError(
        .cancelled, mayHaveBeenProcessed: false, "it was stopped before the request was sent")
}
