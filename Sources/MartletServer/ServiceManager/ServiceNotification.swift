/// A datagram of systemd's notify protocol (sd_notify(3)), with one line `NAME=VALUE` for each fact.
struct ServiceNotification: Hashable, Sendable {
    let lines: [String]

    var text: String { lines.joined(separator: "\n") }

    static let ready = ServiceNotification(lines: ["READY=1"])
    static let stopping = ServiceNotification(lines: ["STOPPING=1"])
    static let alive = ServiceNotification(lines: ["WATCHDOG=1"])

    /// Reports that the server reloads its configuration.
    /// - Parameter monotonic: The time since the system was started. systemd uses it to put reloads in order.
    static func reloading(monotonic: Duration) -> ServiceNotification {
        ServiceNotification(lines: ["RELOADING=1", "MONOTONIC_USEC=\(monotonic.microseconds)"])
    }

    /// Asks for more time to start, counted from now.
    static func extend(by duration: Duration) -> ServiceNotification {
        ServiceNotification(lines: ["EXTEND_TIMEOUT_USEC=\(duration.microseconds)"])
    }

    /// Reports what the server is doing.
    /// - Parameter sentence: The status. Only its first line is sent, because a second line would be read as another
    ///   fact.
    static func status(_ sentence: String) -> ServiceNotification {
        ServiceNotification(lines: ["STATUS=\(sentence.prefix { !$0.isNewline })"])
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
