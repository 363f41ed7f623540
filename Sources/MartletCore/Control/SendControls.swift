/// Pauses, resumes and cancels what is under way: the one way in which wishes take hold.
///
/// A wish is stored first. Then what has not been written to a connection is stopped, and whatever slept is woken that
/// has something to do.
public struct SendControls: Sendable {
    private let store: any ControlStore
    private let board: ControlRegistry
    private let time: any TimeSource
    private let wake: @Sendable (Set<Delivery.ID>) -> Void

    init(
        store: any ControlStore, board: ControlRegistry, time: any TimeSource,
        wake: @escaping @Sendable (Set<Delivery.ID>) -> Void
    ) {
        self.store = store
        self.board = board
        self.time = time
        self.wake = wake
    }

    /// Has a wish take hold.
    /// - Throws: `StorageError`; then nothing has changed.
    public func apply(
        _ wish: ControlRequest, to id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> ControlChange {
        let result = await board.order.run { [self] in
            await Result { () async throws(StorageError) in try await store(wish, id, hub) }
        }
        return try result.get()
    }

    private func store(
        _ wish: ControlRequest, _ id: NotificationID, _ hub: Hub.ID
    ) async throws(StorageError) -> ControlChange {
        let change = try await store.control(wish, id, in: hub, at: time.now)
        if case .done(let control, let sequence, let open) = change {
            board.set(control, of: sequence, in: hub)
            await forgetIfEnded(sequence)
            if !control.isHeld { wake(Set(open)) }
        }
        return change
    }

    /// The state of a notification; nil where the hub has none of this id.
    public func status(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await store.status(id, in: hub)
    }

    /// Reads what is requested of everything that is not over.
    func load() async throws(StorageError) {
        let result = await board.order.run { [self] in
            await Result { () async throws(StorageError) in
                for known in try await store.controlled() {
                    board.set(known.control, of: known.notification, in: known.hub)
                }
            }
        }
        try result.get()
    }

    /// Where it cannot be told whether a notification is over, it is forgotten with the process.
    func forgetIfEnded(_ notification: Int64) async {
        guard board.control(of: notification) != .running,
            (try? await store.hasEnded(notification)) == true
        else { return }
        board.forget(notification)
    }
}

extension Result where Failure == StorageError, Success: Sendable {
    fileprivate init(_ work: () async throws(StorageError) -> Success) async {
        do throws(StorageError) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
