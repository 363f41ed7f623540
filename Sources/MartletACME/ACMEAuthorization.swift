import MartletModel

/// The proof that an authority requires for one name (RFC 8555, section 7.1.4).
struct ACMEAuthorization: Hashable, Sendable {
    enum Status: String, Sendable {
        case pending, valid, invalid, deactivated, expired, revoked
    }

    let status: Status
    let domain: String
    /// The challenge `tls-alpn-01`; nil if there is none.
    let challenge: ACMEChallenge?
    /// The reason why a challenge failed, if one failed.
    let problem: ACMEProblem?

    private static let countLimit = 32

    init?(_ document: JSON?) {
        guard let status = document?["status"]?.string.flatMap(Status.init),
            let domain = document?["identifier"]?["value"]?.string, document?["identifier"]?["type"] == "dns"
        else { return nil }
        let challenges = (document?["challenges"]?.array ?? []).prefix(Self.countLimit)
        self.status = status
        self.domain = domain.lowercased()
        challenge =
            challenges.lazy.filter { $0["type"] == "tls-alpn-01" }.compactMap {
                ACMEChallenge($0, domain: domain.lowercased())
            }.first
        problem = challenges.lazy.compactMap { ACMEProblem($0["error"]) }.first
    }
}

/// A challenge of the type `tls-alpn-01` (RFC 8737, section 3).
public struct ACMEChallenge: Hashable, Sendable {
    public let domain: String
    public let token: String
    let url: ACMEURL
    /// True until the client has told the authority that it may validate the challenge.
    let isPending: Bool

    private static let tokenLimit = 512

    init?(_ document: JSON, domain: String) {
        guard let token = document["token"]?.string, ACMEAnswer.isToken(token, limit: Self.tokenLimit),
            let url = document["url"]?.string.flatMap(ACMEURL.init)
        else { return nil }
        self.domain = domain
        self.token = token
        self.url = url
        isPending = document["status"] == "pending"
    }
}
