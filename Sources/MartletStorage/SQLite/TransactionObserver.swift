/// Data in memory, outside the database, that is changed by SQL functions of a connection. The changes are committed or
/// rolled back together with the transaction that called the functions.
protocol TransactionObserver: AnyObject {
    /// Makes the changes since the last commit permanent, because the transaction was committed.
    func commit()

    /// Reverts the changes since the last commit, because the transaction was rolled back.
    func rollBack()
}
