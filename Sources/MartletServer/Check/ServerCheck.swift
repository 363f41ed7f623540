public import Glibc
import MartletCore
import MartletCrypto
import MartletHTTP
public import MartletModel
import MartletPostgres
import MartletStorage

/// Checks whether `serve` can start with a configuration.
///
/// The checks change nothing.
public struct ServerCheck: Sendable {
    private let configuration: ServerConfiguration
    private let now: Timestamp
    private var directory: String { configuration.dataDirectory }

    /// How long before a certificate or credential expires a warning is reported.
    private static let notice: Duration = .seconds(14 * 86_400)

    /// Creates the checks for a configuration.
    /// - Parameter now: The time with which expiry times are compared.
    public init(_ configuration: ServerConfiguration, now: Timestamp = SystemTime().now) {
        self.configuration = configuration
        self.now = now
    }

    // MARK: Data directory

    /// Whether the data directory exists. Without a data directory, the checks of its contents (such as `disk` and
    /// `database`) are meaningless.
    public var hasData: Bool { access(directory, F_OK) == 0 }

    /// Checks the data directory: its owner, its mode and the owners of its files.
    /// - Parameter user: The id of the user who must own the directory. Root is accepted for every owner.
    public func data(servedBy user: uid_t) -> [CheckResult] {
        guard let owner = DirectoryOwner(of: directory) else {
            return [CheckResult(.ok, "data", "\(directory) does not exist yet: serve makes it.")]
        }
        var results: [CheckResult] = []
        if user != 0, owner.user != user {
            results.append(
                CheckResult(
                    .problem, "data", owner.refusalToAdminister(directory, hasGroupSocket: false).description))
        }
        if isOpenToOthers {
            results.append(
                CheckResult(.warning, "data", "\(directory) is open to other users: make it private (chmod 700)."))
        }
        for file in owner.foreignFiles(in: directory) {
            results.append(
                CheckResult(
                    .problem, "data",
                    "\(directory)/\(file) does not belong to \(owner.name): give it back (chown -R \(owner.name): "
                        + "\(directory))."))
        }
        return results.isEmpty
            ? [CheckResult(.ok, "data", "\(directory) belongs to \(owner.name) alone.")] : results
    }

    private var isOpenToOthers: Bool {
        var status = stat()
        return stat(directory, &status) == 0 && status.st_mode & 0o077 != 0
    }

    /// Checks the free space on the disk of the data directory.
    public func disk() -> [CheckResult] {
        guard hasData,
            let figures = DiskRoom.figures(
                of: directory, reserve: configuration.diskReserve ?? DiskRoom.defaultReserve)
        else { return [] }
        guard !figures.isShort else { return [CheckResult(.problem, "disk", DiskRoom.sentence(figures))] }
        return [
            CheckResult(
                .ok, "disk",
                "\(figures.free / 1_000_000) MB are free, and \(figures.reserve / 1_000_000) MB are reserved.")
        ]
    }

    /// Checks whether a server with this configuration may use the data directory, and the schema of the database in it.
    /// No server may be running on the data directory.
    public func database() -> [CheckResult] {
        do throws(StorageError) {
            try SQLiteStorage.checkUse(of: directory, isOfNode: configuration.database != nil)
            guard configuration.database == nil, SQLiteStorage.exists(in: directory) else { return [] }
            switch try SQLiteStorage.schemaState(in: directory) {
            case .current: return [CheckResult(.ok, "database", "The schema is the one of this program.")]
            case .older(let steps):
                let copy =
                    configuration.copiesBeforeUpgrade
                    ? "It copies the data to \(directory)/\(Upgrade.folder) first."
                    : "It does not copy the data first (--no-copy-before-upgrade): make a backup before."
                return [
                    CheckResult(
                        .warning, "database",
                        "The next start upgrades the schema in \(steps) \(steps == 1 ? "step" : "steps"), and earlier "
                            + "versions cannot read it afterwards. \(copy)")
                ]
            case .newer:
                let refusal = try SQLiteStorage.refusalOfNewer(in: directory, by: configuration.program)
                return [CheckResult(.problem, "database", refusal)]
            }
        } catch {
            // `disk()` reports a full disk.
            guard error.kind != .full || disk().allSatisfy({ $0.level == .ok }) else { return [] }
            return [CheckResult(.problem, "database", error.detail)]
        }
    }

    /// Checks the settings and the state of the database on PostgreSQL, and whether the secret key is that of its nodes.
    /// Returns no results if the data is in the data directory.
    public func sharedDatabase() async -> [CheckResult] {
        guard let database = configuration.database else { return [] }
        do throws(StorageError) {
            let address = try DatabaseAddress(database)
            let (key, unreadable) = nodeKey
            let findings = await PostgresStorage.findings(about: address, time: SystemTime(), key: key)
            return unreadable
                + findings.map { finding in
                    let level: CheckResult.Level =
                        switch finding.level {
                        case .good: .ok
                        case .warning: .warning
                        case .problem: .problem
                        }
                    return CheckResult(level, "database", finding.sentence)
                }
        } catch {
            return [CheckResult(.problem, "database", error.detail)]
        }
    }

    private var nodeKey: (NodeKey, problems: [CheckResult]) {
        do throws(StorageError) {
            let keys = try ServerKeys.existing(in: directory)
            return (keys.map { NodeKey.given($0) } ?? .absent, [])
        } catch {
            return (.unreadable, [CheckResult(.problem, "database", error.detail)])
        }
    }

    /// Checks whether the database is undamaged by reading all of it. No server may be running on the database.
    public func integrity() -> [CheckResult] {
        do throws(StorageError) {
            guard let damage = try SQLiteStorage.damage(in: directory) else {
                return [CheckResult(.ok, "database", "The database is undamaged.")]
            }
            return [CheckResult(.problem, "database", "The database is damaged: \(damage)")]
        } catch {
            return [CheckResult(.problem, "database", error.detail)]
        }
    }

    // MARK: Certificate

    /// Checks the certificate of the TLS listener, from `--tls-certificate` or an ACME authority: its key, its expiry
    /// and its names.
    public func certificate() -> [CheckResult] {
        guard configuration.tlsListen != nil else { return [] }
        if let acme = configuration.acme { return orderedCertificate(acme) }
        guard case .files(let file, let key) = configuration.tls else {
            if let advice = configuration.authorityAdvice { return [CheckResult(.warning, "certificate", advice)] }
            return [
                CheckResult(
                    .ok, "certificate", "The certificate is issued by the private authority of --tls-self-signed.")
            ]
        }
        return certificate(in: file, key: key)
    }

    private func orderedCertificate(_ acme: ServerConfiguration.ACME) -> [CheckResult] {
        if let file = acme.authorityFile, access(file, R_OK) != 0 {
            return [CheckResult(.problem, "certificate", "Cannot read \(file) of --acme-ca-file.")]
        }
        guard let files = configuration.acmeFiles, access(files.chain, F_OK) == 0 else {
            return [
                CheckResult(.ok, "certificate", "There is no certificate for \(acme.name) yet: the server orders one.")
            ]
        }
        // A problem with this certificate is only a warning: it does not prevent a start, because the server orders a
        // new certificate if necessary.
        return certificate(in: files.chain, key: files.key).map { result in
            result.level == .problem ? CheckResult(.warning, "certificate", result.sentence) : result
        }
    }

    private func certificate(in file: String, key: String) -> [CheckResult] {
        do throws(ServerError) {
            let served = try ServedCertificate(certificateFile: file, keyFile: key)
            try served.checkEnd(at: now)
            return examine(served)
        } catch {
            return [CheckResult(.problem, "certificate", error.description)]
        }
    }

    private func examine(_ served: ServedCertificate) -> [CheckResult] {
        var warnings: [String] = []
        if served.begins > now {
            warnings.append("\(served.name) begins on \(served.begins.day): clients refuse it until then.")
        }
        if served.ends < now + Self.notice { warnings.append("\(served.name) ends on \(served.ends.day): renew it.") }
        if let mismatch = served.mismatch(with: configuration.publicURL) { warnings.append(mismatch) }
        guard warnings.isEmpty else { return warnings.map { CheckResult(.warning, "certificate", $0) } }
        let names = served.certificate.hostNames.joined(separator: ", ")
        return [CheckResult(.ok, "certificate", "\(served.name) is for \(names) and ends on \(served.ends.day).")]
    }

    // MARK: The console's identity provider

    /// Checks whether the secret of the console's identity provider can be read.
    public func provider() -> [CheckResult] {
        guard let settings = configuration.consoleOpenIDConnect, let file = settings.secretFile else { return [] }
        do throws(ServerError) {
            _ = try settings.secret()
            return [CheckResult(.ok, "provider", "The secret for \(settings.shownName) is in \(file).")]
        } catch {
            return [CheckResult(.problem, "provider", error.description)]
        }
    }

    // MARK: Ports

    /// Checks whether the listeners' ports are free. No server may be using them.
    /// - Parameter simulator: The address on which the simulator's control interface will listen; nil if no simulator
    ///   will run.
    public func ports(simulator: ServerConfiguration.Address? = nil) -> [CheckResult] {
        [configuration.listen, configuration.tlsListen, simulator].compactMap(\.self).map { address in
            switch PortProbe.error(binding: address) {
            case 0?: CheckResult(.ok, "ports", "\(address) is free.")
            case EADDRINUSE?:
                CheckResult(
                    .problem, "ports", "\(address) is in use by another process (ss -ltnp tells which): stop it.")
            case EACCES? where address.port < 1024:
                CheckResult(
                    .problem, "ports",
                    "\(address) needs root or CAP_NET_BIND_SERVICE, which the packaged unit gives to the server.")
            case let code?:
                CheckResult(.problem, "ports", "\(address) cannot be used: \(String(cString: strerror(code))).")
            case nil: CheckResult(.problem, "ports", "\(address) is no numeric address.")
            }
        }
    }

    // MARK: Credentials

    /// Checks the expiry of a hub's credentials.
    /// - Parameters:
    ///   - hub: The hub's name.
    ///   - ends: The time when the credential of each platform expires, by the platform's name; nil if the credential
    ///     does not expire.
    public func credentials(ofHub hub: String, ends: [String: Timestamp?]) -> [CheckResult] {
        ends.sorted { $0.key < $1.key }.map { platform, end in
            let name = "The credential of hub '\(hub)' for \(platform)"
            guard let end else { return CheckResult(.ok, "credentials", "\(name) can be read.") }
            guard end > now else {
                return CheckResult(
                    .problem, "credentials",
                    "\(name) ended on \(end.day): set a new one (martlet hub credential set \(hub) \(platform)).")
            }
            guard end > now + Self.notice else {
                return CheckResult(.warning, "credentials", "\(name) ends on \(end.day): renew it.")
            }
            return CheckResult(.ok, "credentials", "\(name) can be read and ends on \(end.day).")
        }
    }
}
