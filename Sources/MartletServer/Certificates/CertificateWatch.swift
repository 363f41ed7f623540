import MartletModel

/// Decides when to load the certificate of a listener again, and when to warn that it cannot be loaded or expires soon.
///
/// Once per `interval`, the caller passes the current state of the files, and then performs the returned actions.
struct CertificateWatch: Sendable {
    /// The time between two checks of the files.
    static let interval: Duration = .seconds(60)
    /// How long the files may be invalid before a warning is logged. They may be invalid briefly, because renewal
    /// programs write one file after the other.
    static let patience: Duration = .seconds(300)
    /// How long before the certificate expires a warning is logged.
    static let notice: Duration = .seconds(14 * 86_400)
    private static let day: Duration = .seconds(86_400)

    enum Source: Hashable, Sendable {
        /// The versions of the certificate's file and the key's file; nil for a missing file.
        case files([FileStamp?])
        /// A certificate issued by this server's private authority.
        case selfSigned
    }

    enum Action: Hashable, Sendable {
        case load
        case warn(String)
        case report(String)
    }

    private let name: String
    private let begins: Timestamp
    private let ends: Timestamp
    private let notice: Duration
    private var source: Source
    private var failure: (since: Timestamp, reason: String, isReported: Bool)?
    private var lastNotice: Timestamp?

    /// Creates the watch of a certificate that was loaded.
    /// - Parameters:
    ///   - name: The name of the certificate in messages.
    ///   - source: The state of the files before the certificate was read, so that a later change is not missed.
    ///   - notice: How long before the certificate expires a warning is logged.
    init(
        _ name: String, begins: Timestamp, ends: Timestamp, from source: Source,
        notice: Duration = CertificateWatch.notice
    ) {
        self.notice = notice
        self.name = name
        self.begins = begins
        self.ends = ends
        self.source = source
    }

    /// Compares the files with the certificate in use, and returns what to do.
    /// - Parameter found: The current state of the files.
    mutating func look(at found: Source, now: Timestamp) -> [Action] {
        var actions: [Action] = []
        if mustLoad(found, now) { actions.append(.load) } else { failure = nil }
        if let notice = endNotice(now) { actions.append(notice) }
        return actions
    }

    private func mustLoad(_ found: Source, _ now: Timestamp) -> Bool {
        guard found == source else { return true }
        guard case .selfSigned = source else { return false }
        return now >= begins + (ends - begins) * 2 / 3
    }

    /// Records a failed load. The old certificate stays in use, and the next check tries to load again.
    /// - Returns: The warning to log; otherwise nil. There is one warning for each reason, after loading has failed for
    ///   at least `patience`.
    mutating func failed(_ reason: String, now: Timestamp) -> Action? {
        var failure = failure ?? (since: now, reason: reason, isReported: false)
        defer { self.failure = failure }
        if failure.reason != reason { failure.isReported = false }
        failure.reason = reason
        guard !failure.isReported, now - failure.since >= Self.patience else { return nil }
        failure.isReported = true
        return .warn("The certificate was not exchanged: \(reason)")
    }

    private mutating func endNotice(_ now: Timestamp) -> Action? {
        guard ends - now <= notice, lastNotice.map({ now - $0 >= Self.day }) ?? true else { return nil }
        lastNotice = now
        guard now <= ends else { return .report("\(name) ended on \(ends.day): clients refuse it. Renew it.") }
        return .warn("\(name) ends on \(ends.day): renew it.")
    }
}
