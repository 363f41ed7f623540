import MartletCore
import MartletHTTP
import MartletModel
import MartletNetwork
import Synchronization

/// The certificate of the public TLS listener: read, shown to those who connect, watched and exchanged.
final class ListenerCertificate: Sendable {
    private struct State {
        var configuration: ServerConfiguration
        var served: ServedCertificate
        var watch: CertificateWatch
    }

    let context: TLSServerContext
    private let state: Mutex<State>
    private let end: CertificateEnd
    private let time: any TimeSource
    private let log: @Sendable (Log.Level, String) -> Void

    /// Reads the certificate that a configuration names.
    /// - Throws: `ServerError` where it cannot be used or has ended.
    init(
        _ configuration: ServerConfiguration, end: CertificateEnd, time: any TimeSource,
        log: @escaping @Sendable (Log.Level, String) -> Void
    ) throws(ServerError) {
        let source = configuration.certificateSource
        let served = try configuration.readCertificate(now: time.now)
        try served.checkEnd(at: time.now)
        do throws(NetworkError) {
            context = try TLSServerContext(served.identity)
        } catch {
            throw ServerError("\(served.name) cannot be used: \(error)")
        }
        state = Mutex(State(configuration: configuration, served: served, watch: served.watch(from: source)))
        self.end = end
        self.time = time
        self.log = log
        end.set(served.ends)
        warnOfMismatch(served, configuration)
    }

    /// A certificate that can be shown as soon as everything else of a reload is known to be right.
    struct Candidate: Sendable {
        fileprivate let configuration: ServerConfiguration
        fileprivate let served: ServedCertificate
        fileprivate let source: CertificateWatch.Source
        fileprivate let prepared: TLSServerContext.Prepared
        /// Whether it is another one than is shown now.
        let isNew: Bool
    }

    /// Reads what a configuration names and changes nothing.
    func candidate(_ configuration: ServerConfiguration) throws(ServerError) -> Candidate {
        let now = time.now
        let source = configuration.certificateSource
        let served = try configuration.readCertificate(now: now)
        let isNew = served.certificate != state.withLock { $0.served.certificate }
        // The one that is shown already is no reason to refuse a reload of something else.
        if isNew { try served.checkEnd(at: now) }
        do throws(NetworkError) {
            let prepared = try context.prepare(served.identity)
            return Candidate(
                configuration: configuration, served: served, source: source, prepared: prepared, isNew: isNew)
        } catch {
            throw ServerError("\(served.name) cannot be used: \(error)")
        }
    }

    /// Shows it to all who connect from now on.
    func use(_ candidate: Candidate) {
        // Under the lock, so that what is shown and what is watched belong together.
        state.withLock { state in
            context.use(candidate.prepared)
            state = State(
                configuration: candidate.configuration, served: candidate.served,
                watch: candidate.served.watch(from: candidate.source))
        }
        end.set(candidate.served.ends)
        if candidate.isNew { warnOfMismatch(candidate.served, candidate.configuration) }
    }

    /// Looks at the files every minute until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            look()
            try? await time.sleep(until: time.now + CertificateWatch.interval)
        }
    }

    /// Looks once.
    func look() {
        let now = time.now
        let actions = state.withLock { state in
            state.watch.look(at: state.configuration.certificateSource, now: now)
        }
        for action in actions { perform(action) }
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
            let candidate = try candidate(state.withLock { $0.configuration })
            use(candidate)
            log(.info, "\(candidate.served.name) was exchanged; it ends on \(candidate.served.ends.day).")
        } catch {
            let action = state.withLock { $0.watch.failed(error.description, now: time.now) }
            if let action { perform(action) }
        }
    }

    private func warnOfMismatch(_ served: ServedCertificate, _ configuration: ServerConfiguration) {
        if let sentence = served.mismatch(with: configuration.publicURL) { log(.warning, sentence) }
    }
}

extension ServedCertificate {
    fileprivate func watch(from source: CertificateWatch.Source) -> CertificateWatch {
        CertificateWatch(name, begins: begins, ends: ends, from: source)
    }
}

extension ServerConfiguration {
    /// What the files of the certificate look like now.
    fileprivate var certificateSource: CertificateWatch.Source {
        guard case .files(let certificate, let key) = tls else { return .selfSigned }
        return .files([FileStamp(path: certificate), FileStamp(path: key)])
    }

    /// Reads the certificate, or has it issued.
    fileprivate func readCertificate(now: Timestamp) throws(ServerError) -> ServedCertificate {
        switch tls {
        case .files(let certificate, let key): try ServedCertificate(certificateFile: certificate, keyFile: key)
        case .selfSigned: try ServedCertificate(try selfSigned(now: now))
        case nil: throw ServerError("--tls-listen needs a certificate.")
        }
    }

    private func selfSigned(now: Timestamp) throws(ServerError) -> ServerCertificates {
        let hosts = [tlsListen?.host, publicURL?.host].compactMap(\.self)
        return try ServerCertificates(
            in: dataDirectory, hosts: hosts.filter { !["0.0.0.0", "::"].contains($0) }, now: now)
    }
}
