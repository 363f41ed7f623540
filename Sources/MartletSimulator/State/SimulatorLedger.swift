import Glibc
import MartletModel
import MartletPush

/// A file with one line of JSON for every message that a service accepted. The line is written before the service
/// answers.
///
/// A judge in `Tests/Peers` reads the file to count the messages that the services accepted, and to see when each was
/// accepted. The member `steady` of a line is the time of `CLOCK_MONOTONIC` in seconds, which does not change when the
/// system's clock is set.
final class SimulatorLedger: Sendable {
    private let file: Int32

    /// Opens the file for appending.
    /// - Throws: `SimulatorError` if the file cannot be opened.
    init(path: String) throws(SimulatorError) {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw SimulatorError("The ledger \(path) cannot be opened: \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(file) }

    /// The monotonic clock, in seconds.
    static var steadyTime: Double {
        var steady = timespec()
        clock_gettime(CLOCK_MONOTONIC, &steady)
        return Double(steady.tv_sec) + Double(steady.tv_nsec) / 1e9
    }

    /// Writes the line for a message.
    ///
    /// The caller holds the lock of the simulator's state, so that the lines of two messages do not mix. A line that
    /// cannot be written is skipped.
    /// - Parameter opened: The latest time at which the peer can have opened the connection that carried the message,
    ///   in seconds of the monotonic clock.
    func record(_ delivery: SimulatedDelivery, on platform: PlatformID, opened: Double) {
        let line: JSON = [
            "time": .double(Double(delivery.acceptedAt.milliseconds) / 1000),
            "steady": .double(Self.steadyTime), "opened": .double(opened),
            "service": .string(platform.rawValue), "handle": .string(delivery.handle), "id": .string(delivery.id),
            "payload": delivery.payload,
        ]
        let bytes = line.bytes + [UInt8(ascii: "\n")]
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    }
}
