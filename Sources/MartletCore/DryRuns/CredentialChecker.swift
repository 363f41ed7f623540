import MartletHTTP
import MartletModel

/// Checks the credentials of a hub without sending a push.
///
/// The checker requests its own tokens and does not share them with sends. So a refused token request does not affect a
/// send.
struct CredentialChecker: Sendable {
    /// A credential and the result of its check.
    struct Result: Sendable {
        var check: CredentialCheck
        /// The push service; nil if the hub cannot send to the platform.
        var service: (any PushService)?
        var token: String?
    }

    /// The maximum wait for a token.
    private static let timeout: Duration = .seconds(10)

    private let resolver: LaneResolver
    private let authorizations: AuthorizationCache
    private let time: any TimeSource

    /// - Parameter transport: Sends the token requests.
    init(resolver: LaneResolver, transport: any HTTPTransport, time: any TimeSource) {
        self.resolver = resolver
        self.time = time
        authorizations = AuthorizationCache(transport: transport, timeout: Self.timeout, time: time)
    }

    /// Checks the credential of a hub for a platform.
    /// - Parameter handle: The handle of a device to which the send would go; nil if there is none. On platforms whose
    ///   handles are addresses, the handle determines the origin for which the token is requested.
    func check(
        _ platform: PlatformID, of hub: Hub.ID, sample handle: PushHandle?
    ) async -> Result {
        let lane = LaneID(hub: hub, platform: platform)
        switch resolver.resolve(lane) {
        case .service(let service, let credential): return await check(service, credential, lane, handle)
        case .missing(let outcome): return Result(check: CredentialCheck(.missing, problem: outcome.reason))
        case .unusable(let error): return Result(check: CredentialCheck(.unusable, problem: error.description))
        }
    }

    private func check(
        _ service: any PushService, _ credential: Credential, _ lane: LaneID, _ handle: PushHandle?
    ) async -> Result {
        if let end = service.expiresAt, end <= time.now {
            let problem = "The credential for \(lane.platform) expired at \(end.iso8601)."
            return Result(check: CredentialCheck(.unusable, problem: problem, expiresAt: end), service: service)
        }
        let target = target(of: service, handle)
        // Without a device there is no origin to sign a token for. The key has been read, so signing would succeed.
        guard !type(of: service).tokensAreForOneOrigin || target.origin != nil else {
            return Result(check: CredentialCheck(.usable, expiresAt: service.expiresAt), service: service)
        }
        let key = AuthorizationCache.Key(
            lane: lane, origin: type(of: service).tokensAreForOneOrigin ? target.origin : nil)
        switch await authorizations.grant(for: key, credential: credential, service: target.service) {
        case .granted(let grant):
            return Result(
                check: CredentialCheck(.usable, expiresAt: service.expiresAt), service: target.service,
                token: grant.token)
        case .refused(let outcome):
            var check = Self.check(refused: outcome, lane.platform)
            check.expiresAt = service.expiresAt
            return Result(check: check, service: target.service)
        }
    }

    /// Returns the push service for the origin of a device's handle, and that origin. If handles are not addresses, or
    /// if the handle has no valid origin, returns the given service and nil.
    private func target(
        of service: any PushService, _ handle: PushHandle?
    ) -> (service: any PushService, origin: HTTPOrigin?) {
        guard type(of: service).handlesAreAddresses, var text = handle?.text else { return (service, nil) }
        let origin = text.withUTF8 { try? service.origin(of: $0) }
        return (origin.map { service.at($0) } ?? service, origin)
    }

    /// Returns the result for a credential whose token request was refused. If a retry may succeed, the credential
    /// counts as unchecked.
    private static func check(refused outcome: Outcome, _ platform: PlatformID) -> CredentialCheck {
        let reason = outcome.reason.isEmpty ? outcome.name.rawValue : "\(outcome.name.rawValue), \(outcome.reason)"
        if case .retry = outcome.reaction {
            return CredentialCheck(
                .unchecked, problem: "The credential for \(platform) could not be checked: \(reason).")
        }
        return CredentialCheck(
            .unusable, problem: "The credential for \(platform) gets no token: \(reason).")
    }
}
