import MartletModel

extension DeliveryRun {
    /// How a delivery ended, or why it stopped before its end.
    enum Ending: Sendable, Equatable {
        case finished
        /// Its notification is gone with its hub: there is nothing left to do.
        case gone
        /// A page, or a round of retries, is done and there may be more: the others' turn.
        case yielded
        /// The turn has recorded nothing and wants another one at once. The next one waits, so that nothing spins.
        case stalled
        /// Its hub is being deleted. It waits for the outcome, at most until this timestamp.
        case deleting(until: Timestamp)
        /// Nothing to do before this time, when a retry is due.
        case waiting(until: Timestamp)
        /// It is not to go on until something else is requested; at this time it expires.
        case held(until: Timestamp)
        /// Its lane is paused until this time, or the message expires then.
        case paused(LaneID, until: Timestamp)
        /// The server is shutting down.
        case interrupted
        /// Storage failed; what was not recorded will be done again.
        case failed(StorageError)
    }
}

extension DeliveryRun.Ending {
    /// Whether it asks for another turn without a wait.
    func asksForTurn(at now: Timestamp) -> Bool {
        switch self {
        case .yielded: true
        case .waiting(let until), .paused(_, let until), .held(let until): until <= now
        case .finished, .gone, .stalled, .deleting, .interrupted, .failed: false
        }
    }
}
