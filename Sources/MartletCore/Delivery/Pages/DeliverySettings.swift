/// The sizes, limits and times of delivery. All defaults are here and in `QueueLimits`.
public struct DeliverySettings: Sendable {
    /// Members per page of fan-out.
    public var pageSize: Int
    /// Members of the first page. A delivery that is no longer than this is sent before the further pages of longer
    /// ones.
    public var firstPageSize: Int
    /// The most pages of one delivery that are sent at the same time, if its service is fast enough.
    public var pagesAtOnce: Int
    /// The most pages, over all deliveries, that are sent while another page of the same delivery is in progress. This
    /// bounds memory.
    public var extraPages: Int
    public var queue: QueueLimits
    /// The longest wait for the answers to one round of requests. Pushes without an answer are tried again.
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

    /// The page size if each device of the page leaves a dead letter: dead letters are written one by one, and all
    /// other writers wait meanwhile.
    var letterPageSize: Int { min(pageSize, 1000) }
}
