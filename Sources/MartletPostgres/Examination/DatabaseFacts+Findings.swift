import MartletCore
import MartletModel

/// Judges the facts about a database. A fact is a problem if it can lose data whose storage was confirmed, or if it
/// stops the nodes.
extension DatabaseFacts {
    /// Returns a finding for each setting and each condition.
    /// - Parameters:
    ///   - connections: The number of connections that users can have.
    func findings(connections: Int32) -> [DatabaseFinding] {
        var findings = [schemaFinding] + keyFindings
        findings += [
            switched("fsync", "a commit is on the disk before it is answered", "the data after a crash of its machine"),
            switched("full_page_writes", "pages that a crash has torn are repaired", "pages that a crash has torn"),
            commitFinding, standbyFinding, walFinding, vacuumFinding, connectionFinding(connections), checksumFinding,
            clockFinding,
        ]
        return findings + deadRowFindings + [idleFinding] + sessionFindings
    }

    private func setting(_ name: String) -> String { settings[name] ?? "" }

    private var schemaFinding: DatabaseFinding {
        if let refusal { return DatabaseFinding(.problem, refusal.detail) }
        return switch schema {
        case .none: DatabaseFinding(.good, "There is no schema yet: the first node makes it.")
        case .current: DatabaseFinding(.good, "The schema is the one of this program.")
        case .older(let steps):
            DatabaseFinding(
                .warning,
                "The next node of this version upgrades the schema in \(steps) \(steps == 1 ? "step" : "steps"). Have a "
                    + "backup before.")
        case .unusable(let error): DatabaseFinding(.problem, error.detail)
        }
    }

    private var keyFindings: [DatabaseFinding] {
        switch key {
        case .unsealed:
            [
                DatabaseFinding(
                    .good,
                    "No secret is in the database yet: the first node seals with its secret key, which it makes if it has "
                        + "none. All other nodes need the same.")
            ]
        case .fits: [DatabaseFinding(.good, "The secret key opens the credentials of the database.")]
        case .missing: [DatabaseFinding(.problem, KeyCheck.noKey.detail + KeyCheck.adviceForChecks)]
        case .differs: [DatabaseFinding(.problem, KeyCheck.otherKey.detail + KeyCheck.adviceForChecks)]
        case nil: []
        }
    }

    private func switched(_ name: String, _ good: String, _ loss: String) -> DatabaseFinding {
        DatabaseFinding(
            fault: setting(name) == "on" ? nil : "\(name) is off, which can lose \(loss): set \(name) = on.",
            orGood: "\(name) is on: \(good).")
    }

    // MARK: Commits

    private var commitFinding: DatabaseFinding {
        let (value, waits) = (setting("synchronous_commit"), synchronous != nil)
        return switch (value, waits) {
        case ("on", _), ("remote_apply", _):
            DatabaseFinding(.good, "synchronous_commit is \(value): an answer waits for the commit.")
        case ("off", _):
            DatabaseFinding(
                .problem,
                "synchronous_commit is off: what was answered with success in the last moments before a crash is lost. "
                    + "Set synchronous_commit = on.")
        case ("remote_write", true):
            DatabaseFinding(
                .warning,
                "synchronous_commit is remote_write: a commit is in the memory of the standby and perhaps not on its "
                    + "disk. Set synchronous_commit = on.")
        case ("local", true):
            DatabaseFinding(
                .problem,
                "synchronous_commit is local: commits do not wait for the synchronous standby. Set synchronous_commit "
                    + "= on.")
        default:
            DatabaseFinding(.good, "synchronous_commit is \(value): a commit waits for the disk of the primary.")
        }
    }

    private var synchronous: SynchronousStandbys? { SynchronousStandbys(setting("synchronous_standby_names")) }

    private var standbyFinding: DatabaseFinding {
        guard let synchronous else { return aloneFinding }
        let asked = "synchronous_standby_names = '\(setting("synchronous_standby_names"))'"
        guard seesOthers else {
            return DatabaseFinding(
                .warning,
                "\(asked), but this user may not see the standbys. For this check: GRANT pg_read_all_stats TO its user."
            )
        }
        let present = standbys.filter(synchronous.contains)
        let missing = synchronous.missing(among: standbys)
        let follow =
            standbys.isEmpty
            ? "No standby is connected." : "Connected: \(standbys.joined(separator: ", "))."
        if present.count < synchronous.count {
            return DatabaseFinding(
                .problem,
                "\(asked), and too few of them follow: all writes wait. \(follow) Start the standby; its name is the "
                    + "application_name in its primary_conninfo.")
        }
        if !missing.isEmpty {
            return DatabaseFinding(
                .warning,
                "\(asked), and no standby is called \(missing.joined(separator: ", ")). \(follow) Start it, or correct "
                    + "application_name in its primary_conninfo.")
        }
        if present.count == synchronous.count {
            return DatabaseFinding(
                .warning,
                "\(asked), and \(present.joined(separator: ", ")) can fail for no moment: all writes would wait. Add "
                    + "another standby, and set synchronous_standby_names = 'ANY 1 (…)' with both.")
        }
        return DatabaseFinding(
            .good,
            "A commit waits for \(synchronous.count) of \(present.count) standbys: \(present.joined(separator: ", ")).")
    }

    private var aloneFinding: DatabaseFinding {
        let remedy =
            "With two standbys and synchronous_standby_names = 'ANY 1 (…)' nothing is lost with a machine."
        guard seesOthers else {
            return DatabaseFinding(
                .warning,
                "No standby must have a commit: a failover can lose the last writes, and this user may not see whether a "
                    + "standby follows. For this check: GRANT pg_read_all_stats TO its user. \(remedy)")
        }
        guard !standbys.isEmpty else {
            return DatabaseFinding(.warning, "No standby must have a commit: the data is on one machine. \(remedy)")
        }
        return DatabaseFinding(
            .warning,
            "No standby must have a commit: a failover can lose the last writes. Connected: "
                + "\(standbys.joined(separator: ", ")). \(remedy)")
    }

    private var walFinding: DatabaseFinding {
        let level = setting("wal_level")
        return level == "minimal"
            ? DatabaseFinding(
                .warning,
                "wal_level is minimal: neither a standby nor a backup of a running server is possible. Set wal_level = "
                    + "replica and restart PostgreSQL.")
            : DatabaseFinding(.good, "wal_level is \(level): standbys and backups of a running server are possible.")
    }

    private var checksumFinding: DatabaseFinding {
        setting("data_checksums") == "on"
            ? DatabaseFinding(.good, "data_checksums is on: damage of the disk is found.")
            : DatabaseFinding(
                .warning,
                "data_checksums is off: damage of the disk is not found. Stop PostgreSQL, and run pg_checksums --enable."
            )
    }

    // MARK: Upkeep

    private var vacuumFinding: DatabaseFinding {
        let off = ["autovacuum", "track_counts"].filter { setting($0) != "on" }
        return DatabaseFinding(
            fault: off.isEmpty
                ? nil
                : "\(off.joined(separator: " and ")) is off: tables grow without a limit, and get slow. Set "
                    + "\(off.map { "\($0) = on" }.joined(separator: " and ")).",
            orGood: "autovacuum is on: the room of former rows is used again.")
    }

    private var deadRowFindings: [DatabaseFinding] {
        guard !deadRows.isEmpty else {
            return [DatabaseFinding(.good, "No table has more dead rows than autovacuum is there for.")]
        }
        return deadRows.map { rows in
            DatabaseFinding(
                .warning,
                "The table \(rows.table) has \(rows.dead) dead rows beside \(rows.live) others: autovacuum does not keep "
                    + "up. Look for long transactions and unused replication slots, or lower "
                    + "autovacuum_vacuum_cost_delay.")
        }
    }

    private var idleFinding: DatabaseFinding {
        let (moves, others) = (idleSessions.filter(\.isMove), idleSessions.filter { !$0.isMove })
        guard let oldest = others.first else {
            guard moves.isEmpty else {
                let processes = moves.map { "\($0.process)" }.joined(separator: ", ")
                return DatabaseFinding(
                    .warning, "A move is running, and no node can start until it has ended; process \(processes).")
            }
            let good = "No session has left a transaction open"
            return DatabaseFinding(.good, seesOthers ? "\(good)." : "\(good) that this user can see.")
        }
        let processes = others.map { "\($0.process)" }.joined(separator: ", ")
        return DatabaseFinding(
            .warning,
            "A transaction is open for \(oldest.seconds) seconds and does nothing: dead rows stay, and locks may be "
                + "waited for. End it with SELECT pg_terminate_backend(…); process \(processes).")
    }

    private func connectionFinding(_ connections: Int32) -> DatabaseFinding {
        // Counts one more node, because a new node starts before the node that it replaces has ended.
        let (needed, running) = (Self.connectionsOfNode * (nodes + 1), nodes == 1 ? "node" : "nodes")
        let figures =
            "\(connections) connections, and \(nodes) \(running) use \(Self.connectionsOfNode * nodes) of them"
        return Int(connections) > needed
            ? DatabaseFinding(.good, "There are \(figures).")
            : DatabaseFinding(
                .warning,
                "There are \(figures): too few for one node more and an operator. Raise max_connections, or the limit of "
                    + "the user or the database, to more than \(needed).")
    }

    private static let connectionsOfNode = 6

    // MARK: Time

    /// If the clocks differ by more than this time, nodes use the database's clock.
    private static let clockTolerance = Duration.seconds(1)

    private var clockFinding: DatabaseFinding {
        let size = clockDifference < .zero ? .zero - clockDifference : clockDifference
        guard size > Self.clockTolerance else {
            return DatabaseFinding(.good, "The clocks of the database and of this machine agree.")
        }
        return DatabaseFinding(
            .warning,
            "The clock of the database is \(size.wholeMilliseconds) ms \(clockDifference < .zero ? "behind" : "ahead of") "
                + "this machine's: a node here goes by the database's, while certificates and the log have this machine's. Let "
                + "NTP set both.")
    }

    // MARK: Sessions

    /// The findings on settings that Martlet leaves as they are in its sessions. (In each session, Martlet sets its own
    /// time limits for statements and locks.)
    private var sessionFindings: [DatabaseFinding] {
        let remedy = "Reset it for the user and the database (ALTER ROLE … RESET, ALTER DATABASE … RESET)."
        var findings: [DatabaseFinding] = []
        for (name, effect) in [
            ("idle_session_timeout", "PostgreSQL ends sessions that wait for work"),
            ("transaction_timeout", "PostgreSQL ends a transaction that waits for a standby"),
        ] where !["", "0"].contains(setting(name)) {
            findings.append(DatabaseFinding(.problem, "\(name) is \(setting(name)) ms: \(effect). \(remedy)"))
        }
        let isolation = setting("default_transaction_isolation")
        if isolation != "read committed" {
            findings.append(
                DatabaseFinding(
                    .problem,
                    "default_transaction_isolation is \(isolation): transactions would not see what they wait for. "
                        + remedy))
        }
        let messages = setting("client_min_messages")
        if ["error", "fatal", "panic"].contains(messages) {
            findings.append(
                DatabaseFinding(
                    .problem,
                    "client_min_messages is \(messages): Martlet would not learn that a commit is on one machine only. "
                        + remedy))
        }
        return findings.isEmpty
            ? [DatabaseFinding(.good, "The user and the database have no settings that end sessions or transactions.")]
            : findings
    }
}
