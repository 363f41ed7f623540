import MartletModel

/// A device's word that a notification came, or that its user opened it.
struct Receipt: Hashable, Sendable {
    enum Event: String, Sendable {
        case received, opened
    }

    let notification: String
    let event: Event
    let at: Timestamp
    /// The id of the registration that it came to.
    let device: String
}
