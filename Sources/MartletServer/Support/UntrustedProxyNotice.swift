import MartletCore
import MartletModel

/// Logs a warning, at most once an hour, that requests come through a proxy that is not trusted.
final class UntrustedProxyNotice: Sendable {
    private let log: Log
    private let time: any TimeSource
    private let reminder = Reminder(every: .seconds(3600))

    init(log: Log, time: any TimeSource) {
        self.log = log
        self.time = time
    }

    func found(_ peer: String) {
        guard reminder.isDue(at: time.now) else { return }
        log.write(
            .warning,
            "Requests come through a proxy \(peer.isEmpty ? "on the Unix socket" : "at \(peer)") that is not trusted: all "
                + "callers share its address, and its limit of failed log-ins. Name it with --trusted-proxies"
                + (peer.isEmpty ? " unix." : "."))
    }
}
