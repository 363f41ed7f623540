import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import Synchronization

/// The certificate of the public TLS listener: loads it, watches its files and replaces it while the server runs.
final class ListenerCertificate: Sendable {
    private struct State {
        var configuration: ServerConfiguration
        /// The certificate in use; nil until the ACME authority has issued the first one.
        var served: ServedCertificate?
        var watch: CertificateWatch?
    }

    let context: TLSServerContext
    private let state: Mutex<State>
    private let end: CertificateEnd
    private let time: any TimeSource
    private let log: @Sendable (Log.Level, String) -> Void

    /// Loads the certificate of a configuration.
    /// - Throws: `ServerError` if the certificate cannot be used or has expired.
    init(
        _ configuration: ServerConfiguration, end: CertificateEnd, time: any TimeSource,
        log: @escaping @Sendable (Log.Level, String) -> Void
    ) throws(ServerError) {
        let source = configuration.certificateSource
        let served = try configuration.readFirstCertificate(now: time.now, log: log)
        do throws(NetworkError) {
            context = try configuration.makeContext(served?.identity)
        } catch {
            throw ServerError("\(served?.name ?? "TLS") cannot be used: \(error)")
        }
        let watch = served?.watch(from: source, configuration)
        state = Mutex(State(configuration: configuration, served: served, watch: watch))
        self.end = end
        self.time = time
        self.log = log
        guard let served else { return }
        end.set(served.ends)
        warnOfMismatch(served, configuration)
    }

    /// The certificate in use; nil until the ACME authority has issued the first one.
    var current: ServedCertificate? { state.withLock(\.served) }

    /// A loaded certificate that is not in use yet.
    ///
    /// A reload starts to use the certificate after it has checked the rest of the configuration.
    struct Candidate: Sendable {
        fileprivate let configuration: ServerConfiguration
        fileprivate let served: ServedCertificate
        fileprivate let source: CertificateWatch.Source
        fileprivate let prepared: TLSServerContext.Prepared
        /// True if the candidate differs from the certificate in use.
        let isNew: Bool
    }

    /// Loads the certificate of a configuration without using it.
    func candidate(_ configuration: ServerConfiguration) throws(ServerError) -> Candidate {
        let now = time.now
        let source = configuration.certificateSource
        let served = try configuration.readCertificate(now: now)
        let isNew = served.certificate != state.withLock { $0.served?.certificate }
        // An expired certificate is refused only if it is new. An expired certificate that is already in use must not
        // block a reload of other settings.
        if isNew { try served.checkEnd(at: now) }
        do throws(NetworkError) {
            let prepared = try context.prepare(served.identity)
            return Candidate(
                configuration: configuration, served: served, source: source, prepared: prepared, isNew: isNew)
        } catch {
            throw ServerError("\(served.name) cannot be used: \(error)")
        }
    }

    /// Uses the certificate of a candidate for new connections. Open connections keep the old certificate.
    func use(_ candidate: Candidate) {
        // The certificate and the watch of its files are changed under one lock, so that they always belong together.
        state.withLock { state in
            context.use(candidate.prepared)
            state = State(
                configuration: candidate.configuration, served: candidate.served,
                watch: candidate.served.watch(from: candidate.source, candidate.configuration))
        }
        end.set(candidate.served.ends)
        if candidate.isNew { warnOfMismatch(candidate.served, candidate.configuration) }
    }

    /// Checks the certificate's files every minute until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            look()
            try? await time.sleep(until: time.now + CertificateWatch.interval)
        }
    }

    /// Checks the certificate's files once: loads the certificate again or logs a warning if `CertificateWatch` says
    /// so.
    func look() {
        let now = time.now
        let actions = state.withLock { state in
            state.watch?.look(at: state.configuration.certificateSource, now: now)
        }
        for action in actions ?? [] { perform(action) }
    }

    private func perform(_ action: CertificateWatch.Action) {
        switch action {
        case .warn(let sentence): log(.warning, sentence)
        case .report(let sentence): log(.error, sentence)
        case .load: load()
        }
    }

    private func load() {
        do throws(ServerError) {
            try exchange()
        } catch {
            let action = state.withLock { $0.watch?.failed(error.description, now: time.now) }
            if let action { perform(action) }
        }
    }

    /// Loads the certificate again and uses it for new connections.
    func exchange() throws(ServerError) {
        let candidate = try candidate(state.withLock { $0.configuration })
        use(candidate)
        let served = candidate.served
        // The fingerprint of a certificate from the private authority is logged, so that operators can compare it with
        // the one that a browser shows in its warning.
        let isOwn = candidate.configuration.tls == .selfSigned
        let fingerprint = isOwn ? "; SHA-256 \(served.certificate.fingerprint)" : ""
        log(.info, "\(served.name) was exchanged; it ends on \(served.ends.day)\(fingerprint).")
    }

    private func warnOfMismatch(_ served: ServedCertificate, _ configuration: ServerConfiguration) {
        if let sentence = served.mismatch(with: configuration.publicURL) { log(.warning, sentence) }
    }
}

extension ServedCertificate {
    fileprivate func watch(
        from source: CertificateWatch.Source, _ configuration: ServerConfiguration
    ) -> CertificateWatch {
        // For an ACME certificate, the warning comes when a sixth of the lifetime is left, or later. An earlier warning
        // would be wrong, because such a certificate is renewed long before it expires, and its whole lifetime may be
        // shorter than the default notice.
        let notice =
            configuration.acme == nil ? CertificateWatch.notice : min(CertificateWatch.notice, (ends - begins) / 6)
        return CertificateWatch(name, begins: begins, ends: ends, from: source, notice: notice)
    }
}

extension ServerConfiguration {
    /// The current versions of the certificate's files; `.selfSigned` if the certificate has no files.
    fileprivate var certificateSource: CertificateWatch.Source {
        switch tls {
        case .files(let certificate, let key): .files([FileStamp(path: certificate), FileStamp(path: key)])
        case .acme: .files([acmeFiles?.chain, acmeFiles?.key].map { $0.flatMap(FileStamp.init(path:)) })
        case .selfSigned, nil: .selfSigned
        }
    }

    /// Loads the certificate when the server starts.
    /// - Returns: nil if the ACME authority has yet to issue the certificate, or if the stored certificate cannot be
    ///   used.
    fileprivate func readFirstCertificate(
        now: Timestamp, log: (Log.Level, String) -> Void
    ) throws(ServerError) -> ServedCertificate? {
        guard let files = acmeFiles else {
            let served = try readCertificate(now: now)
            try served.checkEnd(at: now)
            return served
        }
        guard FileStamp(path: files.chain) != nil else { return nil }
        do throws(ServerError) {
            try files.finishInstallation()
            return try readCertificate(now: now)
        } catch {
            log(.warning, "A new certificate is ordered: \(error)")
            return nil
        }
    }

    fileprivate func makeContext(_ identity: TLSIdentity?) throws(NetworkError) -> TLSServerContext {
        guard acme == nil, let identity else { return try TLSServerContext(answeringChallengesWith: identity) }
        return try TLSServerContext(identity)
    }

    /// Loads the certificate from its files, or issues one with the private authority.
    fileprivate func readCertificate(now: Timestamp) throws(ServerError) -> ServedCertificate {
        switch tls {
        case .files(let certificate, let key): try ServedCertificate(certificateFile: certificate, keyFile: key)
        case .selfSigned: try ServedCertificate(try selfSigned(now: now))
        case .acme(let acme):
            try ServedCertificate(
                certificateFile: ACMEFiles(in: dataDirectory, domain: acme.name.lowercased()).chain,
                keyFile: ACMEFiles(in: dataDirectory, domain: acme.name.lowercased()).key)
        case nil: throw ServerError("--tls-listen needs a certificate.")
        }
    }

    private func selfSigned(now: Timestamp) throws(ServerError) -> ServerCertificates {
        let hosts = [tlsListen?.host, publicURL?.host].compactMap(\.self)
        return try ServerCertificates(
            in: dataDirectory, hosts: hosts.filter { !["0.0.0.0", "::"].contains($0) }, now: now)
    }
}
