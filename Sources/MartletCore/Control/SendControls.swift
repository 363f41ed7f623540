public import MartletModel

/// Pauses, resumes and cancels notifications. Controls are changed only through this type.
///
/// A control is stored first. Then those requests that are not yet written to a connection are stopped, and sleeping
/// deliveries that have something to do are woken.
public struct SendControls: Sendable {
    private let store: any ControlStore
    private let board: ControlRegistry
    private let time: any TimeSource
    private let ownership: HubOwnership
    private let wake: @Sendable (Set<Delivery.ID>) -> Void
    /// Called when a scheduled notification, or a waiting part of a notification, may begin.
    private let scheduled: @Sendable () -> Void

    init(
        store: any ControlStore, board: ControlRegistry, time: any TimeSource, ownership: HubOwnership = HubOwnership(),
        scheduled: @escaping @Sendable () -> Void = {}, wake: @escaping @Sendable (Set<Delivery.ID>) -> Void
    ) {
        self.ownership = ownership
        self.store = store
        self.board = board
        self.time = time
        self.wake = wake
        self.scheduled = scheduled
    }

    /// Stores and applies a control request.
    /// - Throws: `StorageError`; then nothing has changed.
    public func apply(
        _ wish: ControlRequest, to id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> ControlChange {
        let result = await board.order.run(id) { [self] in
            await Result { () async throws(StorageError) in try await store(wish, id, hub) }
        }
        return try result.get()
    }

    private func store(
        _ wish: ControlRequest, _ id: NotificationID, _ hub: Hub.ID
    ) async throws(StorageError) -> ControlChange {
        let change = try await store.control(wish, id, in: hub, at: time.now)
        // If another process owns the hub, that process reads the control from the store.
        if case .done(let control, let sequence, let open) = change, ownership.owns(hub) {
            board.set(control, of: sequence, in: hub)
            await forgetIfEnded(sequence)
            if !control.isHeld {
                wake(Set(open))
                // A scheduled notification, or the waiting parts of a notification, may begin now, so the scheduler is
                // woken.
                scheduled()
            }
        }
        return change
    }

    /// The current time, for decisions about canaries.
    public var now: Timestamp { time.now }

    /// Returns the state of a notification; nil if the hub has no notification with this id.
    public func status(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await store.status(id, in: hub)
    }

    /// Decides about a canary that holds and whose wait is over. The rest is released, the canary is halted, or the
    /// canary waits for more answers.
    /// - Returns: The decision; nil if there is nothing to decide.
    @discardableResult
    func evaluateCanary(
        _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> CanaryVerdict? {
        guard let verdict = try await status(of: id, in: hub)?.verdict(at: now) else { return nil }
        switch verdict {
        case .release: _ = try await apply(.release, to: id, in: hub)
        case .halt: _ = try await apply(.halt, to: id, in: hub)
        case .waitForAnswers: break
        }
        return verdict
    }

    /// Loads into memory the stored controls of all unfinished notifications in the hubs that this process owns.
    func load() async throws(StorageError) {
        let result = await board.order.runAlone { [self] in
            await Result { () async throws(StorageError) in
                for known in try await store.controlled() where ownership.owns(known.hub) {
                    board.set(known.control, of: known.notification, in: known.hub)
                }
            }
        }
        try result.get()
    }

    /// Begins to own the given hubs. First loads the stored controls of their notifications into memory, so that no
    /// paused notification is sent.
    func own(_ hubs: Set<Hub.ID>) async throws(StorageError) {
        let result = await board.order.runAlone { [self] in
            await Result { () async throws(StorageError) in
                _ = board.replace(try await store.controlled(), of: hubs)
                // From now on, control requests for these hubs are applied in memory. The results of earlier requests
                // were just read.
                ownership.add(hubs)
            }
        }
        try result.get()
    }

    /// Loads the stored controls of the given hubs again, because another process may have changed some of them.
    /// - Returns: The hubs with notifications whose control has changed.
    func reload(_ hubs: Set<Hub.ID>) async throws(StorageError) -> Set<Hub.ID> {
        let result = await board.order.runAlone { [self] in
            await Result { () async throws(StorageError) in board.replace(try await store.controlled(), of: hubs) }
        }
        let changed = try result.get()
        for notification in changed.keys { await forgetIfEnded(notification) }
        return Set(changed.values)
    }

    /// Removes the control of a notification from memory, if the notification has ended. If the store cannot be read,
    /// the control stays in memory until the process ends.
    func forgetIfEnded(_ notification: Int64) async {
        guard board.wasControlled(notification),
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
