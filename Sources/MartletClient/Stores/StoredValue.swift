/// A value that can be kept in a `ClientStore`.
protocol Storable: Equatable, Sendable {
    /// Creates a value from the bytes that `bytes` returned earlier. If the bytes are nil or invalid, creates the value
    /// of an empty store.
    init(_ bytes: [UInt8]?)
    /// The stored form; nil if there is nothing to store.
    var bytes: [UInt8]? { get }
}

/// A value in a store. The value is read again for each access, because another process may have changed it. Only one
/// task at a time changes the value.
struct StoredValue<Value: Storable>: Sendable {
    private let store: any ClientStore
    private let mutex = AsyncMutex()

    init(_ store: any ClientStore) {
        self.store = store
    }

    var value: Value {
        get async { Value(await store.load()) }
    }

    /// Removes the value, for example if a change could not be stored and the old value must not remain.
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
