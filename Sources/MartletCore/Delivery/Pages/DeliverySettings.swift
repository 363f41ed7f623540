/// The sizes, limits and times of delivery. All defaults are defined here and in `QueueLimits`.
public struct DeliverySettings: Sendable {
    /// The number of members in each page of the fan-out.
    public var pageSize: Int
    /// The number of members in the first page. A delivery that fits in its first page is sent before the further pages
    /// of longer deliveries.
    public var firstPageSize: Int
    /// The maximum number of pages of one delivery that are sent at the same time. Fewer pages are sent if the service
    /// is slow.
    public var pagesAtOnce: Int
    /// The maximum number of extra pages over all deliveries. A page is extra if another page of the same delivery is
    /// in progress. This setting limits the use of memory.
    public var extraPages: Int
    public var queue: QueueLimits
    /// The maximum wait for the answers to one batch of requests. Pushes without an answer are retried.
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
}
