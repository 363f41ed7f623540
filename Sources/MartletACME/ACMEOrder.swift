import MartletCrypto
import MartletHTTP
import MartletModel

/// One attempt to get a certificate from an authority (RFC 8555) by TLS-ALPN-01 (RFC 8737). A rule: it does no I/O.
///
/// It receives answers and returns the next requests as actions.
///
/// The caller performs the actions in order. After a `.send`, the caller passes the answer to `received`; after a
/// `.wait`, it calls `waited`. `.finish` and `.fail` end the attempt.
public struct ACMEOrder: Sendable {
    public struct Settings: Hashable, Sendable {
        public var directory: ACMEURL
        public var domains: [String]
        /// The `mailto:` URL to which the authority sends its messages.
        public var contact: String?
        /// The certificate signing request in DER.
        public var request: [UInt8]

        public init(directory: ACMEURL, domains: [String], contact: String? = nil, request: [UInt8]) {
            self.directory = directory
            self.domains = domains
            self.contact = contact
            self.request = request
        }
    }

    public enum Action: Hashable, Sendable {
        case send(ACMERequest)
        case wait(Duration)
        /// Count an order in the `ACMESchedule`, because the next request creates an order.
        case countOrder
        /// Store the order's URL, so that a later process can continue the order.
        case remember(ACMEURL)
        /// Answer these challenges at the listener from now on.
        case answer([ACMEChallenge])
        /// The attempt has ended with this certificate and its chain, in PEM. They have not been checked.
        case finish(String)
        case fail(ACMEFailure)
    }

    /// The purpose of the outstanding request.
    enum Step: Hashable, Sendable {
        case directory
        case account
        case newOrder
        /// Reads an order that an earlier process created.
        case continuation
        /// Reads the authorization with this index.
        case authorization(Int)
        /// Tells the authority that it can validate the challenge with this index in `challenges`.
        case challenge(Int)
        /// Reads the authorization with this index again and again until it is valid.
        case validation(Int)
        /// Reads the order again and again until it is ready to be finalized.
        case readiness
        case finalization
        /// Reads the order again and again until the certificate is issued.
        case issuance
        case certificate
    }

    /// The maximum number of times that one request is repeated because the authority refused its nonce.
    ///
    /// The limit is high because Pebble, the test authority of Let's Encrypt, can be set up to refuse half of the valid
    /// nonces.
    private static let nonceRefusalLimit = 30
    /// The maximum number of times that one attempt asks the authority whether a state has changed.
    private static let pollLimit = 60
    private static let longestPoll: Duration = .seconds(60)
    /// The maximum total time of all waits of an attempt.
    ///
    /// If the authority needs longer, the attempt ends, and the next attempt continues the order.
    private static let longestWait: Duration = .seconds(3_600)

    let settings: Settings
    private let mayOrder: Bool
    private var step = Step.directory
    private var directory: ACMEDirectory?
    private var account: ACMEURL?
    private var orderURL: ACMEURL?
    private var order: ACMEOrderDocument?
    private var challenges: [ACMEChallenge] = []
    private var nonce: String?
    private var isAskingForNonce = false
    private var nonceRefusals = 0
    private var polls = 0
    private var waits = Duration.zero

    /// Creates an attempt.
    /// - Parameters:
    ///   - order: An unfinished order of an earlier process.
    ///   - mayOrder: Whether a new order may be created. If not, the attempt fails unless it can continue `order`.
    public init(_ settings: Settings, continuing order: ACMEURL? = nil, mayOrder: Bool = true) {
        self.settings = settings
        self.mayOrder = mayOrder
        orderURL = order
    }

    public mutating func begin() -> [Action] { send(.directory) }

    /// Continues the attempt after a `.wait` is over.
    public mutating func waited() -> [Action] { send(step) }

    /// Processes the answer to the last request, and returns the next actions.
    public mutating func received(_ answer: ACMEAnswer) -> [Action] {
        nonce = answer.nonce ?? nonce
        if isAskingForNonce {
            isAskingForNonce = false
            guard answer.status.isSuccess, answer.nonce != nil else {
                return fail(refusal(answer) ?? ACMEFailure("the authority gives no nonce"))
            }
            return send(step)
        }
        guard answer.status.isSuccess else { return refused(answer) }
        nonceRefusals = 0
        return accepted(answer)
    }

    // MARK: Requests

    private mutating func send(_ step: Step) -> [Action] {
        self.step = step
        guard let url = url(of: step) else { return fail(ACMEFailure("the authority's answers do not fit together")) }
        if step == .directory { return [.send(ACMERequest(url: url, content: .get))] }
        guard let nonce else {
            isAskingForNonce = true
            guard let source = directory?.newNonce else { return fail(ACMEFailure("the authority gives no nonce")) }
            return [.send(ACMERequest(url: source, content: .head))]
        }
        self.nonce = nil
        let content = ACMERequest.Content.post(
            payload: payload(of: step), nonce: nonce, account: step == .account ? nil : account)
        return [.send(ACMERequest(url: url, content: content))]
    }

    private func url(of step: Step) -> ACMEURL? {
        switch step {
        case .directory: settings.directory
        case .account: directory?.newAccount
        case .newOrder: directory?.newOrder
        case .continuation, .readiness, .issuance: orderURL
        case .authorization(let index), .validation(let index): order?.authorizations[index]
        case .challenge(let index): challenges[index].url
        case .finalization: order?.finalize
        case .certificate: order?.certificate
        }
    }

    /// Returns the payload of a step's request; empty if the request only reads.
    private func payload(of step: Step) -> [UInt8] {
        switch step {
        case .account:
            var account: [String: JSON] = ["termsOfServiceAgreed": true]
            if let contact = settings.contact { account["contact"] = [.string(contact)] }
            return JSON.object(account).bytes
        case .newOrder:
            let names = settings.domains.map { JSON.object(["type": "dns", "value": .string($0)]) }
            return JSON.object(["identifiers": .array(names)]).bytes
        case .challenge: return Array("{}".utf8)
        case .finalization: return JSON.object(["csr": .string(Base64URL.encode(settings.request))]).bytes
        default: return []
        }
    }

    private mutating func makeOrder() -> [Action] {
        guard mayOrder else {
            return fail(ACMEFailure("the order cannot be continued, and no more may be made today", endsOrder: true))
        }
        orderURL = nil
        return [.countOrder] + send(.newOrder)
    }

    /// Waits and then repeats the request of a step, or fails if the authority needs too much time.
    private mutating func poll(_ step: Step, _ answer: ACMEAnswer) -> [Action] {
        self.step = step
        polls += 1
        guard polls <= Self.pollLimit else { return fail(ACMEFailure("the authority does not come to an end")) }
        let wait = answer.retryAfter ?? min(.seconds(1 << min(polls / 4, 6)), Self.longestPoll)
        guard wait <= Self.longestWait, waits + wait <= Self.longestWait else {
            return fail(
                ACMEFailure("the authority asks to be left alone for a while", retryAfter: answer.retryAfter))
        }
        waits += wait
        return [.wait(wait)]
    }

    // MARK: Refusals

    private mutating func refused(_ answer: ACMEAnswer) -> [Action] {
        let problem = ACMEProblem(answer.document)
        if problem?.type == "badNonce", nonceRefusals < Self.nonceRefusalLimit {
            nonceRefusals += 1
            nonce = answer.nonce
            return send(step)
        }
        let isPassing = answer.status == .tooManyRequests || answer.status.code >= 500
        switch step {
        case .continuation where !isPassing: return makeOrder()
        case .validation, .readiness, .issuance:
            if isPassing { return poll(step, answer) }
        default: break
        }
        return fail(
            ACMEFailure(
                problem.map { "the authority says: \($0.sentence)" } ?? "the authority answered \(answer.status.code)",
                retryAfter: answer.retryAfter, endsOrder: !isPassing))
    }

    private func refusal(_ answer: ACMEAnswer) -> ACMEFailure? {
        guard !answer.status.isSuccess else { return nil }
        return ACMEFailure("the authority answered \(answer.status.code)", retryAfter: answer.retryAfter)
    }

    private func fail(_ failure: ACMEFailure) -> [Action] { [.fail(failure)] }

    private func unreadable(_ what: String) -> [Action] {
        fail(ACMEFailure("the authority's \(what) cannot be read"))
    }

    // MARK: Answers

    private mutating func accepted(_ answer: ACMEAnswer) -> [Action] {
        switch step {
        case .directory: acceptedDirectory(answer)
        case .account: acceptedAccount(answer)
        case .newOrder: acceptedOrder(answer)
        case .continuation: continued(answer)
        case .authorization(let index): acceptedAuthorization(index, answer)
        case .challenge(let index): nextChallenge(after: index)
        case .validation(let index): validated(index, answer)
        case .readiness: read(answer)
        case .finalization, .issuance: read(answer)
        case .certificate: acceptedCertificate(answer)
        }
    }

    private mutating func acceptedDirectory(_ answer: ACMEAnswer) -> [Action] {
        guard let directory = ACMEDirectory(answer.document) else { return unreadable("directory") }
        guard !directory.needsExternalAccount else {
            return fail(ACMEFailure("the authority only has accounts for its customers, which is not supported"))
        }
        self.directory = directory
        return send(.account)
    }

    private mutating func acceptedAccount(_ answer: ACMEAnswer) -> [Action] {
        guard let location = answer.location else { return unreadable("account") }
        account = location
        return orderURL == nil ? makeOrder() : send(.continuation)
    }

    private mutating func acceptedOrder(_ answer: ACMEAnswer) -> [Action] {
        guard let location = answer.location, let order = document(answer) else { return unreadable("order") }
        orderURL = location
        self.order = order
        return [.remember(location)] + proceed(order, answer)
    }

    private mutating func continued(_ answer: ACMEAnswer) -> [Action] {
        guard let order = document(answer), order.status != .invalid else { return makeOrder() }
        self.order = order
        return proceed(order, answer)
    }

    private func document(_ answer: ACMEAnswer) -> ACMEOrderDocument? {
        ACMEOrderDocument(answer.document, limit: settings.domains.count)
    }

    /// Continues according to the state of an order that was just created, or that an earlier process created.
    private mutating func proceed(_ order: ACMEOrderDocument, _ answer: ACMEAnswer) -> [Action] {
        guard order.status == .pending, !order.authorizations.isEmpty else { return proceedWithoutProof(order, answer) }
        return send(.authorization(0))
    }

    private mutating func read(_ answer: ACMEAnswer) -> [Action] {
        guard let order = document(answer) else { return unreadable("order") }
        self.order = order
        return proceedWithoutProof(order, answer)
    }

    private mutating func proceedWithoutProof(_ order: ACMEOrderDocument, _ answer: ACMEAnswer) -> [Action] {
        switch order.status {
        case .pending: return poll(.readiness, answer)
        case .ready:
            // The authority may report the old state for a short time after the order was finalized.
            if step == .finalization || step == .issuance { return poll(.issuance, answer) }
            return send(.finalization)
        case .processing: return poll(.issuance, answer)
        case .valid: return order.certificate == nil ? unreadable("order") : send(.certificate)
        case .invalid:
            let reason = order.problem.map { "the authority says: \($0.sentence)" } ?? "the authority refuses the order"
            return fail(ACMEFailure(reason, endsOrder: true))
        }
    }

    private mutating func acceptedAuthorization(_ index: Int, _ answer: ACMEAnswer) -> [Action] {
        guard let authorization = ACMEAuthorization(answer.document),
            settings.domains.contains(authorization.domain)
        else { return unreadable("authorization") }
        switch authorization.status {
        case .valid: break
        case .pending:
            guard let challenge = authorization.challenge else {
                return fail(
                    ACMEFailure(
                        "the authority offers no tls-alpn-01 challenge for \(authorization.domain)", endsOrder: true))
            }
            challenges.append(challenge)
        default: return fail(Self.refused(authorization))
        }
        guard let order, index + 1 < order.authorizations.count else {
            guard !challenges.isEmpty else { return send(.readiness) }
            return [.answer(challenges)] + nextChallenge(after: -1)
        }
        return send(.authorization(index + 1))
    }

    private mutating func nextChallenge(after index: Int) -> [Action] {
        guard let next = challenges.indices.dropFirst(index + 1).first(where: { challenges[$0].isPending }) else {
            return send(.validation(0))
        }
        return send(.challenge(next))
    }

    private mutating func validated(_ index: Int, _ answer: ACMEAnswer) -> [Action] {
        guard let authorization = ACMEAuthorization(answer.document) else { return unreadable("authorization") }
        switch authorization.status {
        case .pending: return poll(.validation(index), answer)
        case .valid:
            guard let order, index + 1 < order.authorizations.count else { return send(.readiness) }
            return send(.validation(index + 1))
        default: return fail(Self.refused(authorization))
        }
    }

    private static func refused(_ authorization: ACMEAuthorization) -> ACMEFailure {
        let reason = authorization.problem?.sentence ?? "the authorization is \(authorization.status.rawValue)"
        return ACMEFailure("the authority says of \(authorization.domain): \(reason)", endsOrder: true)
    }

    private func acceptedCertificate(_ answer: ACMEAnswer) -> [Action] {
        guard answer.body.count <= ACMEAnswer.lengthLimit, let text = String(utf8: answer.body) else {
            return unreadable("certificate")
        }
        return [.finish(text)]
    }
}
