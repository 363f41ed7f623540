import MartletModel
import Synchronization

/// The time when the certificate of the public TLS listener expires, for the metrics.
final class CertificateEnd: Sendable {
    private let end = Mutex<Timestamp?>(nil)

    func set(_ timestamp: Timestamp) {
        end.withLock { $0 = timestamp }
    }

    var timestamp: Timestamp? { end.withLock(\.self) }

    /// Returns one sample: the seconds until the certificate expires, negative after it has expired. Without a
    /// certificate, there is no sample.
    func samples(at now: Timestamp) -> [(labels: [String], value: Double)] {
        timestamp.map { [(labels: ["public"], value: ($0 - now).inSeconds)] } ?? []
    }
}
