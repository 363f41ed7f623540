import MartletCrypto
import MartletHTTP
import MartletModel

/// The state that a simulated service keeps for one connection.
struct APNsSimulatedConnection {
    /// The topics for which the peer's push certificate is valid.
    struct CertificateProof: Equatable {
        var topics: [String]
    }

    /// The topics of the peer's push certificate; nil if the peer has sent none.
    private(set) var certificate: CertificateProof?
    /// Whether the stream limit was raised. If the peer has a certificate, the limit is raised when the connection
    /// opens. Otherwise it is raised after the first accepted push.
    var isTrusted = false
    /// The refusal that every request on this connection gets, set by a sticky fault; nil for none.
    var sticky: APNsRefusal?
    private var owner: (teamID: String, keyID: String)?
    private var token: (text: String, since: Timestamp)?

    /// Checks the peer's certificate, if there is one: its dates, its `UID` and its environment.
    init(
        _ connection: HTTPConnection, environment: APNsEnvironment, at now: Timestamp
    ) throws(APNsRefusal) {
        guard let der = connection.peerCertificate else { return }
        guard let certificate = try? Certificate(der: der), let userID = certificate.userID,
            Int64(certificate.notBefore) <= now.seconds, now.seconds <= Int64(certificate.notAfter)
        else { throw Self.refusal("BadCertificate") }
        guard APNsCertificateExtensions.allows(certificate, environment) else {
            throw Self.refusal("BadCertificateEnvironment")
        }
        let topics = APNsCertificateExtensions.topics(of: certificate)
        self.certificate = CertificateProof(topics: topics.isEmpty ? [userID] : topics)
    }

    /// Checks that the token is consistent with earlier requests on the connection (PushServices.md, section 10.2, rows
    /// 13 and 14).
    mutating func use(_ provider: APNsProviderToken, _ text: String, at now: Timestamp) throws(APNsRefusal) {
        if let owner {
            guard owner.teamID == provider.teamID else { throw APNsRefusal(.forbidden, "InvalidProviderToken") }
            guard owner.keyID == provider.keyID else { throw APNsRefusal(.forbidden, "UnrelatedKeyIdInToken") }
        }
        if let token, token.text != text {
            guard now - token.since >= APNsProviderToken.minimumAge else {
                throw APNsRefusal(.tooManyRequests, "TooManyProviderTokenUpdates")
            }
        }
        if token?.text != text { token = (text, now) }
    }

    /// Binds the connection to the team and key of the first accepted push.
    mutating func bind(to provider: APNsProviderToken) {
        owner = owner ?? (provider.teamID, provider.keyID)
    }

    private static func refusal(_ reason: String) -> APNsRefusal {
        APNsRefusal(.forbidden, reason, steps: [.goAway(reason: reason)])
    }
}

/// Reads the certificate extensions that Apple has defined for push certificates (PushServices.md, section 1.3).
enum APNsCertificateExtensions {
    static let sandbox = "1.2.840.113635.100.6.3.1"
    static let production = "1.2.840.113635.100.6.3.2"
    static let topicList = "1.2.840.113635.100.6.3.6"

    /// Returns whether the certificate is valid for the environment.
    ///
    /// A certificate that names no environment is valid for both.
    static func allows(_ certificate: Certificate, _ environment: APNsEnvironment) -> Bool {
        let isForSandbox = certificate.extensionValue(sandbox) != nil
        let isForProduction = certificate.extensionValue(production) != nil
        switch environment {
        case .sandbox: return isForSandbox || !isForProduction
        case .production: return isForProduction || !isForSandbox
        }
    }

    /// Returns the topics of a certificate for several topics; empty for any other certificate. The extension is a DER
    /// sequence of UTF-8 strings, each followed by the types of the topic.
    static func topics(of certificate: Certificate) -> [String] {
        guard let value = certificate.extensionValue(topicList), let content = element(value[...])?.content else {
            return []
        }
        var topics: [String] = []
        var rest = content
        while let next = element(rest) {
            if next.tag == 0x0C { topics.append(String(decoding: next.content, as: UTF8.self)) }
            rest = next.rest
        }
        return topics
    }

    private static func element(
        _ bytes: ArraySlice<UInt8>
    ) -> (tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, let tag = bytes.first else { return nil }
        var length = Int(bytes[bytes.startIndex + 1])
        var start = bytes.startIndex + 2
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...2).contains(count), start + count <= bytes.endIndex else { return nil }
            length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard start + length <= bytes.endIndex else { return nil }
        return (tag, bytes[start..<(start + length)], bytes[(start + length)...])
    }
}
