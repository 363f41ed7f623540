import MartletCore
import MartletModel

/// A condition that an operator should look at, as a code with facts.
///
/// The console's pages turn the code and the facts into a sentence in the reader's language.
struct Alert: Hashable, Sendable {
    enum Severity: String, Hashable, Sendable {
        case warning
        case error
    }

    let code: String
    let severity: Severity
    /// The hub that the alert is about; nil for an alert about the server, or about all hubs together.
    var hub: String?
    /// Whether the alert is about single hubs without naming them. Then only operators with a role for all hubs see it.
    var needsAllHubs = false
    var platform: String?
    var facts: [String: JSON] = [:]

    var json: JSON {
        var members = facts
        members["code"] = .string(code)
        members["severity"] = .string(severity.rawValue)
        members["hub"] = hub.map(JSON.string) ?? .null
        members["platform"] = platform.map(JSON.string) ?? .null
        return .object(members)
    }
}

/// The rules that decide which alerts there are for the current state of the server.
///
/// Docs/Metrics.md, "What to watch", lists most of the conditions. Further alerts report why `/health/ready` answers
/// 503, that a credential was refused, that the server's certificate expires, that many pushes fail, and that lanes or
/// origins are paused.
struct AlertRules {
    let latest: ConsoleSample
    /// A sample that is up to five minutes older than `latest`.
    ///
    /// Rates are calculated from the difference between both samples.
    let earlier: ConsoleSample

    /// Creates the rules; nil if there is no sample yet.
    /// - Parameter recent: The samples of the last five minutes, oldest first.
    init?(_ latest: ConsoleSample?, recent: [ConsoleSample]) {
        guard let latest else { return nil }
        self.latest = latest
        earlier = recent.first ?? latest
    }

    /// The alerts: errors first, then warnings.
    var alerts: [Alert] {
        let found = readiness + ends + outages + degraded + deliveries + services + machine
        return found.filter { $0.severity == .error } + found.filter { $0.severity == .warning }
    }

    /// Returns the state of the server in one word: `ok`, `attention` (there are warnings) or `trouble` (there is an
    /// error).
    static func state(_ alerts: [Alert]) -> String {
        if alerts.contains(where: { $0.severity == .error }) { return "trouble" }
        return alerts.isEmpty ? "ok" : "attention"
    }

    private var readiness: [Alert] {
        latest.obstacle.map { [Alert(code: "not-ready", severity: .error, facts: ["sentence": .string($0)])] } ?? []
    }

    /// An alert is raised this many seconds before a credential expires: thirty days, which is enough time to renew it.
    private static let credentialNotice = 30.0 * 86_400
    private static let certificateNotice = 14.0 * 86_400
    private var ends: [Alert] {
        let refused = latest.refusedCredentials.sorted { ($0.hub, $0.platform) < ($1.hub, $1.platform) }
        var found = refused.map {
            Alert(code: "credential-refused", severity: .error, hub: $0.hub, platform: $0.platform)
        }

        let credentials = latest.credentialEnds.sorted { $0.at < $1.at }.filter {
            seconds(to: $0.at) < Self.credentialNotice
        }
        found += credentials.map { end in
            let left = seconds(to: end.at)
            return Alert(
                code: left <= 0 ? "credential-ended" : "credential-ends", severity: left <= 0 ? .error : .warning,
                hub: end.hub, platform: end.platform,
                facts: ["endsAt": .string(end.at.iso8601), "seconds": .integer(Int64(left))])
        }
        if let end = latest.certificateEndsAt, seconds(to: end) < Self.certificateNotice {
            let left = seconds(to: end)
            found.append(
                Alert(
                    code: "certificate-ends", severity: left <= 0 ? .error : .warning,
                    facts: ["endsAt": .string(end.iso8601), "seconds": .integer(Int64(left))]))
        }
        return found
    }

    /// The number of failed attempts after which an alert says that no push gets through to a push service. `answered`
    /// applies if the service's last answer had a status from 400 to 499, `broken` applies otherwise.
    ///
    /// `answered` is higher, because an answer such as 429 may concern only one device. In the case of `broken`, a
    /// single failed attempt is enough if the failures began at least `patience` seconds ago. So an outage is shown
    /// within seconds, even if little is sent.
    private static let failedAttempts = (answered: 10, broken: 2)
    private static let patience = 3.0
    /// If no push waits for another attempt, the alert is removed this many seconds after the last failed attempt.
    private static let memory = 60.0

    /// The alerts about push services to which no push gets through. Their pushes wait for another attempt, and do not
    /// count as failed yet.
    private var outages: [Alert] {
        latest.failingServices.filter { failing in
            if failing.waiting == nil, -seconds(to: failing.lastAt) > Self.memory { return false }
            if let status = failing.status, (400..<500).contains(status) {
                return failing.attempts >= Self.failedAttempts.answered
            }
            return failing.attempts >= Self.failedAttempts.broken || -seconds(to: failing.since) >= Self.patience
        }.sorted { ($0.hub, $0.platform) < ($1.hub, $1.platform) }.map { failing in
            var facts: [String: JSON] = [
                "since": .string(failing.since.iso8601), "origin": .string(failing.origin),
                "origins": .integer(Int64(failing.origins)), "attempts": .integer(Int64(failing.attempts)),
                "status": failing.status.map { .integer(Int64($0)) } ?? .null, "reason": .string(failing.reason),
                "waiting": .integer(Int64(failing.waiting?.pushes ?? 0)),
            ]
            if let waiting = failing.waiting {
                facts["isPartial"] = .bool(waiting.isPartial)
                facts["notifications"] = .integer(Int64(waiting.notifications))
                facts["expiresAt"] = .string(waiting.firstExpiry.iso8601)
                facts["nextAt"] = .string(max(waiting.next, latest.at).iso8601)
            }
            return Alert(
                code: "service-failing", severity: failing.isWholeLane ? .error : .warning, hub: failing.hub,
                platform: failing.platform, facts: facts)
        }
    }

    /// The alerts about push services at which a part of the requests fails. If a later attempt of such a push
    /// succeeds, no other figure shows the failed request, although the push was late.
    ///
    /// An alert is raised if there were at least a hundred requests and at least a fifth of them failed. A platform
    /// gets no such alert if it has an alert of `outages` with the severity `error`, or a paused lane, which has an
    /// alert of its own.
    private var degraded: [Alert] {
        latest.failedAttempts.sorted { $0.key < $1.key }.compactMap { platform, count in
            let failed = count - (earlier.failedAttempts[platform] ?? 0)
            let all = (latest.attempts[platform] ?? 0) - (earlier.attempts[platform] ?? 0)
            let isTold =
                outages.contains { $0.platform == platform && $0.severity == .error }
                || latest.pausedLanes.contains { $0.platform == platform }
            guard all >= 100, failed * 5 >= all, !isTold else { return nil }
            return Alert(
                code: "service-degraded", severity: .warning, platform: platform,
                facts: [
                    "share": .double(Self.share(failed, of: all)), "failed": .integer(Int64(failed)),
                    "of": .integer(Int64(all)),
                ])
        }
    }

    /// Returns a share from 0 to 1, rounded to three decimal places.
    private static func share(_ part: Int, of all: Int) -> Double {
        (Double(part) / Double(all) * 1000).rounded() / 1000
    }

    private var deliveries: [Alert] {
        var found: [Alert] = []
        if latest.oldest > 3600 {
            found.append(
                Alert(
                    code: "oldest-waits", severity: .warning,
                    facts: ["seconds": .integer(Int64(latest.oldest)), "waiting": .integer(Int64(latest.waiting))]))
        }
        if let p99 = latest.latency.quantile(0.99, since: earlier.latency), p99 > 1 {
            found.append(Alert(code: "latency", severity: .warning, facts: ["p99": .integer(Int64(p99 * 1000))]))
        }
        for (platform, count) in latest.wrongCredentials.sorted(by: { $0.key < $1.key }) {
            let wrong = count - (earlier.wrongCredentials[platform] ?? 0)
            guard wrong > 0 else { continue }
            found.append(
                Alert(
                    code: "wrong-credential", severity: .error, needsAllHubs: true, platform: platform,
                    facts: ["count": .integer(Int64(wrong))]))
        }
        return found + failures
    }

    /// The alert about too many failed pushes.
    ///
    /// A few failures are normal, because devices disappear. An alert is raised if there were at least a hundred pushes
    /// and more than a fifth of them failed.
    private var failures: [Alert] {
        func sum(_ counts: [String: Int]) -> Int { counts.values.reduce(0, +) }
        let failed = sum(latest.failed) - sum(earlier.failed)
        let all = failed + sum(latest.taken) - sum(earlier.taken)
        guard all >= 100, failed * 5 > all else { return [] }
        return [
            Alert(
                code: "failing", severity: .warning,
                facts: [
                    "share": .double(Self.share(failed, of: all)), "failed": .integer(Int64(failed)),
                    "of": .integer(Int64(all)),
                ])
        ]
    }

    private var services: [Alert] {
        let paused = Dictionary(uniqueKeysWithValues: latest.pausedLanes.map { ($0, 1) })
        let kinds = [
            ("quarantine", latest.quarantines), ("lane-paused", paused), ("origin-paused", latest.pausedOrigins),
        ]
        return kinds.flatMap { code, counts in
            let lanes = counts.filter { $0.value > 0 }.sorted {
                ($0.key.hub, $0.key.platform) < ($1.key.hub, $1.key.platform)
            }
            return lanes.map { lane, count in
                Alert(
                    code: code, severity: code == "quarantine" ? .error : .warning, hub: lane.hub,
                    platform: lane.platform, facts: ["count": .integer(Int64(count))])
            }
        }
    }

    private var machine: [Alert] {
        var found: [Alert] = []
        let span = Double((latest.at - earlier.at).wholeMilliseconds) / 1000
        if span >= 30, let share = zip(latest.loopBusy, earlier.loopBusy).map({ ($0 - $1) / span }).max(), share > 0.9 {
            found.append(
                Alert(code: "loop-busy", severity: .warning, facts: ["share": .double((share * 100).rounded() / 100)]))
        }
        if let since = latest.backupAt ?? latest.needsBackupSince, -seconds(to: since) > 36 * 3600 {
            let age = latest.backupAt.map { JSON.integer(Int64(-seconds(to: $0))) } ?? .null
            found.append(Alert(code: "backup-old", severity: .warning, facts: ["seconds": age]))
        }
        if let disk = latest.disk, disk.free < max(500_000_000, disk.reserve) {
            found.append(
                Alert(
                    code: "disk-low", severity: disk.free < disk.reserve ? .error : .warning,
                    facts: ["free": .integer(disk.free), "reserve": .integer(disk.reserve)]))
        }
        if let commit = latest.commit, let old = earlier.commit, let p99 = commit.quantile(0.99, since: old), p99 > 0.5
        {
            found.append(Alert(code: "commit-slow", severity: .warning, facts: ["p99": .integer(Int64(p99 * 1000))]))
        }
        return found
    }

    private func seconds(to timestamp: Timestamp) -> Double {
        Double((timestamp - latest.at).wholeMilliseconds) / 1000
    }
}
