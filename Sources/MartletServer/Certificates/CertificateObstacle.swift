import MartletModel
import Synchronization

/// Holds what the health check reports about the certificate of the public TLS listener.
final class CertificateObstacle: Sendable {
    private struct State {
        var sentence: String?
        var note: String?
        var noteEnds: Timestamp?
    }

    private let state = Mutex(State())

    /// Sets the reason why the TLS listener has no certificate; nil if it has one.
    func set(_ sentence: String?) {
        state.withLock { $0.sentence = sentence }
    }

    /// Sets the sentence that says what does not work although the listener has a certificate; nil if everything works.
    /// - Parameter end: The time from which the note no longer applies; nil if it applies until it is replaced.
    func setNote(_ note: String?, until end: Timestamp? = nil) {
        state.withLock { state in
            state.note = note
            state.noteEnds = end
        }
    }

    /// The reason why the TLS listener has no certificate; nil if it has one, or if there is no TLS listener.
    var sentence: String? { state.withLock(\.sentence) }

    /// Returns the sentence that says what does not work although the listener has a certificate; nil if everything
    /// works.
    func note(at now: Timestamp) -> String? {
        state.withLock { state in state.noteEnds.map { now < $0 } ?? true ? state.note : nil }
    }
}
