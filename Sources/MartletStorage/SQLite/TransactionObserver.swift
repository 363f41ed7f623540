/// In-memory data outside the database that SQL functions of a connection change. Its changes are committed or rolled
/// back together with the transaction that called the functions.
protocol TransactionObserver: AnyObject {
    /// Keeps the changes made since the last commit.
    func commit()

    /// Reverts the changes made since the last commit.
    func rollBack()
}
