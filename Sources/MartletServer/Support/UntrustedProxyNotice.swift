import MartletCore
import MartletModel
import Synchronization

/// Warns once an hour that requests come through a proxy that is not trusted.
final class UntrustedProxyNotice: Sendable {
    private static let interval = Duration.seconds(3600)

    private let log: Log
    private let time: any TimeSource
    private let next = Mutex<Timestamp?>(nil)

    init(log: Log, time: any TimeSource) {
        self.log = log
        self.time = time
    }

    func found(_ peer: String) {
        let now = time.now
        let isDue = next.withLock { next in
            guard next.map({ $0 <= now }) ?? true else { return false }
            next = now + Self.interval
            return true
        }
        guard isDue else { return }
        log.write(
            .warning,
            "Requests come through a proxy \(peer.isEmpty ? "on the Unix socket" : "at \(peer)") that is not trusted: all "
                + "callers share its address, and its limit of failed log-ins. Name it with --trusted-proxies"
                + (peer.isEmpty ? " unix." : "."))
    }
}
