/// What functions of a connection change in memory, beside the database. It lasts as the transaction does that called them.
protocol TransactionObserver: AnyObject {
    /// What has changed since the last commit stays.
    func commit()

    /// What has changed since the last commit is undone.
    func rollBack()
}
