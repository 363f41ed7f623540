public import MartletCore
import MartletCrypto
public import MartletHTTP
import MartletModel

/// Decides which requests to a hub are admitted.
struct Gate: Sendable {
    let hubs: HubDirectory
    let address: PublicAddress
    let time: any TimeSource
    private let callers: HubCallers
    /// The limiter for the request rate of each access key. Only requests with a valid signature are counted.
    private let limiter = RateLimiter<AccessKey>(countLimit: 10_000)
    private let verified = VerifiedTokens()

    private struct AccessKey: Hashable {
        /// The hub of the key; nil for a key of the namespace.
        let hub: Hub.ID?
        let rule: String
    }

    /// The key name for requests by administrators. Such requests are not signed with a key.
    private static let administrator = "administrator"

    init(
        hubs: HubDirectory, address: PublicAddress, time: any TimeSource, callers: HubCallers = .signed
    ) {
        self.callers = callers
        self.hubs = hubs
        self.address = address
        self.time = time
    }

    /// The tolerated deviation of a client's clock, in seconds.
    private static let clockSkew: Int64 = 60

    /// Admits a request if its token is signed with a key of a rule that grants the right. The rule must belong to the
    /// request's hub or to the namespace.
    ///
    /// Checks that need no key are made first, so that only a caller with a complete, unexpired token for this address
    /// can find out whether a hub exists. The error does not reveal whether the key's name or the signature is wrong.
    func admit(_ request: HTTPRequest, _ match: RouteMatch, needs right: AccessRights) throws(HubAPIError) -> HubCall {
        if callers == .administrator {
            guard let hub = hubs.hub(named: match["hub"]) else { throw .hubNotFound }
            return HubCall(
                request: request, match: match, hub: hub, keyName: Self.administrator,
                author: SendAuthor(administering: request), address: address)
        }
        let token = try token(of: request, match)
        guard let hub = hubs.hub(named: match["hub"]) else { throw .hubNotFound }
        try check(token, in: hub, needs: right)
        let name = token.signature.keyName
        return HubCall(
            request: request, match: match, hub: hub, keyName: name, author: .key(name), address: address)
    }

    /// Admits a request to the management of hubs. A rule of the namespace may manage every hub, even if the hub does
    /// not exist yet; a hub's own rule may manage that hub.
    func admitManager(_ request: HTTPRequest, _ match: RouteMatch) throws(HubAPIError) -> ManagementCall {
        if callers == .administrator {
            let hub = hubs.hub(named: match["hub"])
            return ManagementCall(
                request: request, match: match, hub: hub, keyName: Self.administrator, address: address)
        }
        let token = try token(of: request, match)
        let hub = hubs.hub(named: match["hub"])
        try check(token, in: hub, needs: .manage)
        return ManagementCall(
            request: request, match: match, hub: hub, keyName: token.signature.keyName, address: address)
    }

    /// Returns the request's token after making all checks that need no key.
    private func token(
        of request: HTTPRequest, _ match: RouteMatch
    ) throws(HubAPIError) -> PresentedToken {
        guard let header = request.fields["authorization"] else { throw .missingToken }
        let known = verified.token(header)
        guard let token = known?.signature ?? SharedAccessSignature(header: header) else { throw .malformedToken }
        guard time.now.seconds - Self.clockSkew < token.expiry else { throw .expiredToken }
        guard let audience = known?.audience ?? token.audience,
            audience.covers(match.target.segments, at: address.hosts(of: request), isID: match.hasID(at:))
        else { throw .wrongAudience }
        return PresentedToken(header: header, signature: token, audience: audience, signer: known?.signer)
    }

    /// Checks the token against the rules with the token's key name. If a hub and the namespace have rules of the same
    /// name, both are tried.
    private func check(
        _ token: PresentedToken, in hub: Hub?, needs right: AccessRights
    ) throws(HubAPIError) {
        for (owner, rules) in [(hub, hub?.settings.accessRules ?? []), (nil, hubs.namespaceRules)] {
            guard let rule = rules.first(where: { $0.name == token.signature.keyName }), try isSigned(token, by: rule)
            else { continue }
            try takeTurn(AccessKey(hub: owner?.id, rule: rule.name), at: hubs.requestRate(of: owner))
            guard rule.rights.allow(right) else { throw .rightMissing }
            return
        }
        throw .invalidSignature
    }

    private func takeTurn(_ key: AccessKey, at rate: RequestRate) throws(HubAPIError) {
        guard let wait = limiter.take(key, at: rate, now: time.now) else { return }
        throw .throttled(
            "The access key makes more than \(rate.perSecond) requests a second", retryAfter: wait.retryAfterSeconds)
    }

    private func isSigned(_ token: PresentedToken, by rule: AccessRule) throws(HubAPIError) -> Bool {
        let signer = VerifyingKeys(rule)
        if token.signer == signer { return true }
        do throws(CryptoError) {
            guard try token.signature.isSigned(by: rule) else { return false }
        } catch {
            throw .internalError
        }
        verified.remember(
            PresentedToken(
                header: token.header, signature: token.signature, audience: token.audience, signer: signer))
        return true
    }
}

extension RouteMatch {
    /// Returns true if the path segment at an index is an id, which is case-sensitive. In hub names, tags and literals,
    /// case is ignored.
    fileprivate func hasID(at index: Int) -> Bool {
        parameterName(at: index).map { !["hub", "tag"].contains($0) } ?? false
    }
}

extension SendAuthor {
    /// The author of a request to the administration API: an operator of the console, or the administrator who uses the
    /// admin socket.
    public init(administering request: HTTPRequest) {
        self = request.operatorName.map { .operator($0.lowercased()) } ?? .administrator
    }
}
