import MartletModel

/// The tokens of all lanes. Being an actor that signs without suspending, it makes one token at a time for everybody.
actor AuthorizationCache {
    /// What a batch is sent with.
    struct Grant: Sendable {
        var token: String?
        /// Changes when the connections that carried an older token are not to be used any more.
        var generation: Int
    }

    private struct Entry {
        var credential: Credential
        var token: SignedToken?
        var generation = 0
    }

    private var entries: [LaneID: Entry] = [:]

    /// The token to send with now; a new one once the old is near its end.
    func grant(
        for lane: LaneID, credential: Credential, service: any PushService, at now: Timestamp
    ) throws(PushServiceError) -> Grant {
        var entry = entries[lane] ?? Entry(credential: credential)
        if entry.credential != credential {
            entry = Entry(credential: credential, generation: entry.generation + 1)
        }
        if entry.token.map({ Self.isDue($0, at: now) }) ?? true {
            switch try service.authorization(at: now) {
            case .none: entry.token = nil
            case .token(let token): entry.token = token
            }
        }
        entries[lane] = entry
        return Grant(token: entry.token?.value, generation: entry.generation)
    }

    /// Notes that the service refused a token: the next grant has a new one and asks for new connections. What somebody
    /// else has renewed meanwhile stays.
    func discard(_ refused: Grant, of lane: LaneID) {
        guard var entry = entries[lane], entry.generation == refused.generation else { return }
        entry.token = nil
        entry.generation += 1
        entries[lane] = entry
    }

    /// Five sixths of the way from the first to the last moment at which a new one may be made.
    private static func isDue(_ token: SignedToken, at now: Timestamp) -> Bool {
        let span = token.expiresAt - token.renewableAt
        return now >= token.renewableAt + span * 5 / 6
    }
}
