/// How delivery is paced. Every default stands here.
public struct DeliverySettings: Sendable {
    /// Members per page of fan-out.
    public var pageSize: Int
    /// Members of the first page: what is not longer goes out before all that is.
    public var firstPageSize: Int
    /// Deliveries that run at the same time.
    public var concurrentDeliveries: Int
    /// Deliveries that wait in memory; more wait in the store alone.
    public var queueLimit: Int
    /// How long one round of requests may take until what is unanswered is sent again.
    public var requestTimeout: Duration
    public var retry: RetryPolicy

    public init(
        pageSize: Int = 5000, firstPageSize: Int = 500, concurrentDeliveries: Int = 64, queueLimit: Int = 4096,
        requestTimeout: Duration = .seconds(30), retry: RetryPolicy = RetryPolicy()
    ) {
        self.pageSize = pageSize
        self.firstPageSize = firstPageSize
        self.concurrentDeliveries = concurrentDeliveries
        self.queueLimit = queueLimit
        self.requestTimeout = requestTimeout
        self.retry = retry
    }
}
