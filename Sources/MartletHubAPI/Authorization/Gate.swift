import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Decides which requests reach a hub.
struct Gate: Sendable {
    let hubs: HubDirectory
    let address: PublicAddress
    let time: any TimeSource

    /// How far, in seconds, a client's clock may be behind.
    private static let clockSkew: Int64 = 60

    /// Admits a request whose token is signed by a rule of its hub that holds the right.
    ///
    /// What needs no key is checked first, so that only a complete, current token for this address learns whether a hub
    /// exists. Whether the key's name or the signature is wrong is not told.
    func admit(_ request: HTTPRequest, _ match: RouteMatch, needs right: AccessRights) throws(HubAPIError) -> HubCall {
        guard let header = request.fields["authorization"] else { throw .missingToken }
        guard let token = SharedAccessSignature(header: header) else { throw .malformedToken }
        guard time.now.seconds - Self.clockSkew < token.expiry else { throw .expiredToken }
        guard let audience = token.audience,
            audience.covers(match.target.segments, at: address.hosts(of: request))
        else { throw .wrongAudience }
        guard let hub = hubs.hub(named: match["hub"]) else { throw .hubNotFound }
        guard let rule = hub.settings.accessRules.first(where: { $0.name == token.keyName }),
            try isSigned(token, by: rule)
        else { throw .invalidSignature }
        guard rule.rights.allow(right) else { throw .rightMissing }
        return HubCall(request: request, match: match, hub: hub, address: address)
    }

    private func isSigned(_ token: SharedAccessSignature, by rule: AccessRule) throws(HubAPIError) -> Bool {
        do throws(CryptoError) {
            return try token.isSigned(by: rule)
        } catch {
            throw .internalError
        }
    }
}
