public import MartletCore

/// How long writes to the database took, a transaction each.
public struct WriteTimes: Sendable {
    /// From the first write of a transaction that came until the writer took it up.
    public internal(set) var wait = Histogram(bounds: Self.bounds)
    /// From there until it was on disk, and its callers were told.
    public internal(set) var commit = Histogram(bounds: Self.bounds)

    private static let bounds: [Duration] =
        [100, 200, 500].map { .microseconds($0) } + [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10].map { .seconds($0) }
}
