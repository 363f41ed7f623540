/// How delivery is paced. Every default is here and in `QueueLimits`.
public struct DeliverySettings: Sendable {
    /// Members per page of fan-out.
    public var pageSize: Int
    /// Members of the first page: what is not longer goes out before all that is.
    public var firstPageSize: Int
    /// Pages of one delivery that are sent at the same time, where its service is fast enough for so many.
    public var pagesAtOnce: Int
    /// Pages that may be sent beside another of their delivery, of all deliveries together: what lies in memory is bounded.
    public var extraPages: Int
    public var queue: QueueLimits
    /// How long one round of requests may take until what is unanswered is sent again.
    public var requestTimeout: Duration
    public var retry: RetryPolicy

    public init(
        pageSize: Int = 5000, firstPageSize: Int = 50, pagesAtOnce: Int = 9, extraPages: Int = 12,
        queue: QueueLimits = QueueLimits(), requestTimeout: Duration = .seconds(30),
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.pageSize = pageSize
        self.firstPageSize = firstPageSize
        self.pagesAtOnce = pagesAtOnce
        self.extraPages = extraPages
        self.queue = queue
        self.requestTimeout = requestTimeout
        self.retry = retry
    }

    /// The most devices of a page each of which leaves a dead letter: these are written one by one, while all others who
    /// have something to write wait.
    var letterPageSize: Int { min(pageSize, 1000) }
}
