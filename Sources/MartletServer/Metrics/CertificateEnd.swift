import MartletModel
import Synchronization

/// When the certificate of the public TLS listener ends, for the metrics.
final class CertificateEnd: Sendable {
    private let end = Mutex<Timestamp?>(nil)

    func set(_ timestamp: Timestamp) {
        end.withLock { $0 = timestamp }
    }

    var timestamp: Timestamp? { end.withLock(\.self) }

    /// Seconds until then; negative afterwards.
    func samples(at now: Timestamp) -> [(labels: [String], value: Double)] {
        timestamp.map { [(labels: ["public"], value: ($0 - now).inSeconds)] } ?? []
    }
}
