import MartletModel

/// Finds the hub's credential for a lane, and creates the push service of the lane's platform with it.
struct LaneResolver: Sendable {
    /// The push service and the credential of a lane, or the reason why nothing can be sent in the lane.
    enum Resolution {
        case service(any PushService, Credential)
        /// Nothing can be sent in the lane. Every push gets this outcome.
        case missing(Outcome)
        /// The lane's push service cannot use the hub's credential.
        case unusable(PushServiceError)
    }

    let hubs: HubDirectory
    let platforms: PushPlatformList
    /// The cache of push services; if nil, a push service is created for each call.
    var services: PushServiceCache?

    func resolve(_ lane: LaneID) -> Resolution {
        guard let type = platforms.service(lane.platform) else {
            return .missing(.noPushService(for: lane.platform))
        }
        guard let credential = hubs.credential(for: lane.platform, of: lane.hub) else {
            services?.forget(lane)
            return .missing(.noCredential(for: type.descriptor.credentialPlatform))
        }
        do throws(PushServiceError) {
            guard let services else { return .service(try type.init(credential: credential), credential) }
            return .service(try services.service(type, of: lane, credential: credential), credential)
        } catch {
            return .unusable(error)
        }
    }

    /// Returns whether a context was created with the hub's current credential.
    func isCurrent(_ context: SendContext) -> Bool {
        hubs.credential(for: context.id.platform, of: context.id.hub) == context.credential
    }
}

extension LaneResolver {
    /// Whether a page may be sent in a lane now.
    enum Readiness {
        case ready(SendContext)
        case paused(until: Timestamp)
    }

    /// Returns the context with which a page can be sent in a lane now. If the lane is paused, returns the end of the
    /// pause instead. Pauses the lane if its credential is not usable.
    /// - Parameter probeDuration: The maximum duration of a probe of a paused lane.
    func enter(
        _ lane: LaneID, _ breakers: LaneCircuitBreakers, at now: Timestamp, probeDuration: Duration
    ) -> Readiness {
        let entry = breakers.enter(lane, at: now, probeDuration: probeDuration)
        if case .paused(let until) = entry { return .paused(until: until) }
        switch resolve(lane) {
        case .service(let service, let credential):
            return .ready(SendContext(lane, credential, .by(service), isProbe: entry == .probe))
        case .missing(let outcome): return .ready(SendContext(lane, nil, .refused(outcome)))
        case .unusable: return .paused(until: breakers.pause(lane, isProbe: entry == .probe, at: now))
        }
    }
}

extension Outcome {
    static func noPushService(for platform: PlatformID) -> Outcome {
        Outcome(.noPushService, reason: "This server has nothing that sends to \(platform) yet.", .refuseAll)
    }

    static func noCredential(for platform: PlatformID) -> Outcome {
        Outcome(.invalidCredentials, reason: "The hub has no credential for \(platform).", .refuseAll)
    }
}
