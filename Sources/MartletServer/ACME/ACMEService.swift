import MartletACME
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork

/// Orders the certificate of the public TLS listener from an ACME authority and renews it.
struct ACMEService: Sendable {
    let settings: ACMESettings
    let files: ACMEFiles
    let certificate: ListenerCertificate
    let obstacle: CertificateObstacle
    /// The name and version of this program, sent to the authority.
    let program: String
    let transport: any HTTPTransport
    let time: any TimeSource
    let log: @Sendable (Log.Level, String) -> Void

    /// The maximum accepted difference between the authority's clock and this server's.
    private static let clockSkew: Duration = .seconds(300)
    /// The time after which an attempt sends no further request. It is long enough for all waiting times of an
    /// `ACMEOrder`, even if the authority answers slowly.
    private static let attemptLimit: Duration = .seconds(2 * 3600)

    /// Reports to the health check that there is no certificate yet, or that the certificate is not valid yet. Called
    /// once, when the server starts.
    func announce() {
        guard certificate.current == nil else { return noteBeginning() }
        obstacle.set(
            "There is no certificate for \(settings.name) yet: it is ordered from \(settings.directory.origin).")
    }

    /// Orders and renews certificates until the task is cancelled.
    func run() async {
        var state = load()
        while !Task.isCancelled {
            await sleepUntilDue(state)
            guard !Task.isCancelled else { return }
            let failure = await failure(of: &state)
            guard !Task.isCancelled else { return }
            answerChallenges(with: [:])
            save(state)
            if let failure {
                report(failure, state)
            } else {
                obstacle.set(nil)
                noteBeginning()
            }
        }
    }

    /// Makes one attempt to get a certificate.
    /// - Returns: The failure; nil if a new certificate was installed.
    private func failure(of state: inout ACMEState) async -> ACMEFailure? {
        do throws(ACMEFailure) {
            try await attempt(&state)
            state.schedule.succeeded()
            state.order = nil
            return nil
        } catch {
            state.schedule.failed(
                at: time.now, retryAfter: error.retryAfter, ends: certificate.current?.ends)
            if error.endsOrder { state.order = nil }
            return error
        }
    }

    private func sleepUntilDue(_ state: ACMEState) async {
        let random = Double.random(in: 0..<1)
        while !Task.isCancelled {
            let now = time.now
            let due = state.schedule.next(renewal: renewal(random), isContinued: state.order != nil, now: now)
            guard due > now else { return }
            try? await time.sleep(until: due)
        }
    }

    /// Returns the time at which the certificate must be renewed; nil if there is no certificate that covers all names.
    private func renewal(_ random: Double) -> Timestamp? {
        guard let served = certificate.current, settings.domains.allSatisfy(served.certificate.isFor) else {
            return nil
        }
        return ACMESchedule.renewal(begins: served.begins, ends: served.ends, random: random)
    }

    private func report(_ failure: ACMEFailure, _ state: ACMEState) {
        let next = state.schedule.next(renewal: nil, isContinued: state.order != nil, now: time.now)
        let reason = failure.reason.hasSuffix(".") ? String(failure.reason.dropLast()) : failure.reason
        if let served = certificate.current {
            obstacle.setNote(
                "The certificate for \(settings.name) was not issued: \(reason). The one in use is for "
                    + "\(served.certificate.hostNames.prefix(3).joined(separator: ", ")) and ends on \(served.ends.day)."
            )
        } else {
            obstacle.set("There is no certificate for \(settings.name) yet: \(reason).")
        }
        log(.warning, "The certificate for \(settings.name) was not issued: \(reason). Next attempt: \(next.iso8601).")
    }

    /// If the certificate in use is not valid yet, reports this to the health check and logs it. Otherwise removes an
    /// earlier report.
    private func noteBeginning() {
        guard let served = certificate.current, served.begins > time.now + Self.clockSkew else {
            return obstacle.setNote(nil)
        }
        let sentence =
            "The certificate for \(settings.name) is not valid before \(served.begins.iso8601), and clients "
            + "refuse it until then: check the clock of this server."
        obstacle.setNote(sentence, until: served.begins)
        log(.warning, sentence)
    }

    // MARK: One attempt

    private func attempt(_ state: inout ACMEState) async throws(ACMEFailure) {
        let client = try client()
        let key = try nextKey(isContinued: state.order != nil)
        var order = ACMEOrder(
            ACMEOrder.Settings(
                directory: settings.directory, domains: settings.domains, contact: settings.contact,
                request: try signingRequest(key)),
            continuing: state.order, mayOrder: state.schedule.mayOrder(at: time.now))
        let begun = time.now
        var actions = order.begin()
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .send(let request):
                guard time.now - begun < Self.attemptLimit else {
                    throw ACMEFailure("the authority did not come to an end in two hours")
                }
                actions += order.received(try await client.send(request))
            case .wait(let duration):
                try await wait(duration)
                actions += order.waited()
            case .countOrder:
                state.order = nil
                state.schedule.ordered(at: time.now)
                save(state)
            case .remember(let url):
                state.order = url
                save(state)
            case .answer(let challenges): try answer(challenges, account: client.key)
            case .finish(let chain): return try install(chain, key)
            case .fail(let failure): throw failure
            }
        }
    }

    private func wait(_ duration: Duration) async throws(ACMEFailure) {
        do {
            try await time.sleep(until: time.now + duration)
        } catch {
            throw ACMEFailure("the server stops")
        }
    }

    private func client() throws(ACMEFailure) -> ACMEClient {
        try filed { () throws(ServerError) in
            try files.makeDirectory()
            var trusted: String?
            if let file = settings.authorityFile {
                guard let bytes = try SecretFile.read(file) else {
                    throw ServerError("Cannot read \(file): there is no such file.")
                }
                trusted = String(decoding: bytes, as: UTF8.self)
            }
            return ACMEClient(
                settings: settings, key: try files.key(in: files.accountKey), trusted: trusted, program: program,
                transport: transport, time: time)
        }
    }

    /// Returns the key for the certificate that is being ordered.
    ///
    /// A continued order keeps its key, because the order may have been finalized with that key already.
    private func nextKey(isContinued: Bool) throws(ACMEFailure) -> P256PrivateKey {
        if !isContinued { files.removeNextKey() }
        return try filed { () throws(ServerError) in try files.key(in: files.nextKey) }
    }

    private func signingRequest(_ key: P256PrivateKey) throws(ACMEFailure) -> [UInt8] {
        do throws(CryptoError) {
            return try CertificateSigningRequest(hosts: settings.domains, key: key).der
        } catch {
            throw ACMEFailure("the request cannot be made: \(error)")
        }
    }

    private func answer(_ challenges: [ACMEChallenge], account: P256PrivateKey) throws(ACMEFailure) {
        var identities: [String: TLSIdentity] = [:]
        do throws(CryptoError) {
            for challenge in challenges {
                let identity = try CertificateIdentity.challenge(
                    host: challenge.domain,
                    keyAuthorization: account.publicKey.keyAuthorization(token: challenge.token),
                    now: Int(time.now.seconds))
                identities[challenge.domain] = TLSIdentity(
                    certificatesPEM: try identity.certificatePEM(), privateKeyPEM: try identity.privateKeyPEM())
            }
        } catch {
            throw ACMEFailure("the challenge cannot be answered: \(error)")
        }
        answerChallenges(with: identities)
    }

    private func answerChallenges(with identities: [String: TLSIdentity]) {
        do throws(NetworkError) {
            try certificate.context.answerChallenges(with: identities)
        } catch {
            log(.error, "Challenges cannot be answered: \(error)")
        }
    }

    /// Checks a new certificate and starts to use it.
    ///
    /// An invalid certificate never replaces the old one.
    private func install(_ chain: String, _ key: P256PrivateKey) throws(ACMEFailure) {
        let identity: CertificateIdentity
        let certificates: String
        do throws(CryptoError) {
            // The first key in a PEM text is used. This server's key comes first, so that a key in the authority's
            // answer is ignored. Only the certificates of the answer are kept.
            identity = try CertificateIdentity(pem: try key.pem() + "\n" + chain)
            certificates = try identity.certificatePEM()
        } catch {
            throw ACMEFailure("the certificate of the authority cannot be used: \(error)", endsOrder: true)
        }
        guard settings.domains.allSatisfy(identity.certificate.isFor) else {
            throw ACMEFailure("the certificate of the authority is for other names", endsOrder: true)
        }
        let (begins, ends) = (identity.certificate.notBefore, identity.certificate.notAfter)
        guard begins >= 0, begins < ends, ends > Int(time.now.seconds) else {
            throw ACMEFailure("the certificate of the authority has ended already", endsOrder: true)
        }
        try checkBeginning(Timestamp(seconds: Int64(begins)))
        try filed { () throws(ServerError) in
            try files.install(certificates)
            try certificate.exchange()
        }
    }

    /// Throws if a new certificate is not valid yet and would replace one that is valid now.
    private func checkBeginning(_ begins: Timestamp) throws(ACMEFailure) {
        guard begins > time.now + Self.clockSkew, let served = certificate.current,
            served.begins <= time.now, time.now < served.ends
        else { return }
        throw ACMEFailure(
            "the certificate of the authority is not valid before \(begins.iso8601); if that time has passed, the clock of "
                + "this server is wrong", endsOrder: true)
    }

    private func filed<Value>(_ work: () throws(ServerError) -> Value) throws(ACMEFailure) -> Value {
        do throws(ServerError) {
            return try work()
        } catch {
            throw ACMEFailure(error.description)
        }
    }

    // MARK: State

    private func load() -> ACMEState {
        do throws(ServerError) {
            try files.makeDirectory()
            guard let bytes = try SecretFile.readOwn(files.state) else { return ACMEState() }
            var state = ACMEState(bytes, settings: settings)
            // If the key for the order is missing, the order is dropped. The order may already be finalized, and
            // without this key its certificate could not be used.
            if try files.storedKey(in: files.nextKey) == nil { state.order = nil }
            state.schedule.resumed(at: time.now)
            return state
        } catch {
            log(.warning, "The state of the certificate's order cannot be read: \(error)")
            return ACMEState()
        }
    }

    private func save(_ state: ACMEState) {
        do throws(ServerError) {
            try SecretFile.write(state.bytes(settings), to: files.state)
        } catch {
            log(.warning, "The state of the certificate's order cannot be stored: \(error)")
        }
    }
}
