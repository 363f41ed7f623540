/// How delivery is paced. Every default stands here and in `QueueLimits`.
public struct DeliverySettings: Sendable {
    /// Members per page of fan-out.
    public var pageSize: Int
    /// Members of the first page: what is not longer goes out before all that is.
    public var firstPageSize: Int
    public var queue: QueueLimits
    /// How long one round of requests may take until what is unanswered is sent again.
    public var requestTimeout: Duration
    public var retry: RetryPolicy

    public init(
        pageSize: Int = 5000, firstPageSize: Int = 100, queue: QueueLimits = QueueLimits(),
        requestTimeout: Duration = .seconds(30), retry: RetryPolicy = RetryPolicy()
    ) {
        self.pageSize = pageSize
        self.firstPageSize = firstPageSize
        self.queue = queue
        self.requestTimeout = requestTimeout
        self.retry = retry
    }
}
