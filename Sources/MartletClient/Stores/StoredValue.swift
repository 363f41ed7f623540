/// What can be kept in a `ClientStore`.
protocol Storable: Equatable, Sendable {
    /// Reads what `bytes` gave; anything else is the value at first.
    init(_ bytes: [UInt8]?)
    /// nil where there is nothing to keep.
    var bytes: [UInt8]? { get }
}

/// A value in a store. It is read again each time, because another process may have changed it, and changed by one task
/// at a time.
struct StoredValue<Value: Storable>: Sendable {
    private let store: any ClientStore
    private let mutex = AsyncMutex()

    init(_ store: any ClientStore) {
        self.store = store
    }

    var value: Value {
        get async { Value(await store.load()) }
    }

    /// Removes it, as where a change could not be kept and what is there must not stay.
    func remove() async {
        await mutex.take()
        await store.save(nil)
        await mutex.leave()
    }

    func change(_ change: (inout Value) -> Void) async {
        await mutex.take()
        let before = await value
        var value = before
        change(&value)
        if value != before { await store.save(value.bytes) }
        await mutex.leave()
    }
}
