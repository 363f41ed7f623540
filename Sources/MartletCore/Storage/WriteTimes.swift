/// The durations of writes to the database. Each group of changes that is committed together counts once.
public struct WriteTimes: Sendable {
    /// The time from when the first write of a transaction was submitted until the writer began the transaction.
    public var wait = Histogram(bounds: Self.bounds)
    /// The time from when the writer began the transaction until it was on disk and its callers were notified.
    public var commit = Histogram(bounds: Self.bounds)

    public init() {}

    private static let bounds: [Duration] =
        [100, 200, 500].map { .microseconds($0) } + [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10].map { .seconds($0) }
}
