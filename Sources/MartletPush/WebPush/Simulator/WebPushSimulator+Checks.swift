import MartletCrypto
import MartletHTTP
import MartletModel

/// Checks a request as a service does, in the order of PushServices.md, section 10.6.
extension WebPushSimulator {
    /// The maximum time that a service stores a message, in seconds: 30 days.
    private static let timeToLiveLimit: Int64 = 2_592_000
    private static let verifiedLimit = 1000

    mutating func judge(
        _ request: HTTPRequest, _ flavour: WebPushFlavour, at now: Timestamp
    ) throws(WebPushRefusal) -> WebPushSimulatedPush {
        guard request.method == .post else { throw .method }
        guard let endpoint = WebPushSimulatedEndpoint(request.target) else { throw .badEndpoint }
        let subscription = subscriptions[endpoint.token]
        try authorize(request.fields, subscription, flavour, at: now)
        let timeToLive = try timeToLive(request.fields)
        try checkUrgency(request.fields, flavour)
        let topic = try topic(request.fields)
        let content = try content(request)
        guard let subscription else { throw .gone }
        guard devices[subscription.handle]?.removedAt == nil else { throw .gone }
        try checkRate(of: endpoint.token, at: now)
        return WebPushSimulatedPush(
            handle: subscription.handle, channel: subscription.channel, body: request.body,
            content: content.map { decrypt($0, for: subscription) } ?? [], timeToLive: timeToLive,
            urgency: request.fields["urgency"], topic: topic, acceptedAt: now)
    }

    /// Checks the proof of the sender's identity (PushServices.md, section 10.6, rows 3 to 6).
    private mutating func authorize(
        _ fields: HTTPFields, _ subscription: Subscription?, _ flavour: WebPushFlavour, at now: Timestamp
    ) throws(WebPushRefusal) {
        guard let proof = fields["authorization"].flatMap(VAPIDProof.init) else { throw .badProof }
        guard let point = WebPushSubscription.decode(proof.key.utf8), P256PublicKey.isValid(rawPoint: point) else {
            throw .badKey
        }
        let token = try verify(proof, point)
        guard token.audience == origin.description, token.expiry > now,
            token.expiry - now <= VAPIDToken.lifetimeLimit
        else { throw .badProof }
        if let subject = token.subject {
            guard VAPIDToken.isSubject(subject) else { throw .badProof }
        } else if flavour == .safari {
            throw .badProof
        }
        guard subscription?.senderKey.map({ $0 == point }) ?? true else { throw .otherKey }
    }

    private mutating func verify(_ proof: VAPIDProof, _ point: [UInt8]) throws(WebPushRefusal) -> VAPIDToken {
        let name = "\(proof.token) \(proof.key)"
        if let known = verified[name] { return known }
        guard let key = try? P256PublicKey(rawPoint: point), let token = VAPIDToken(proof.token[...]),
            token.isSigned(by: key)
        else { throw .badProof }
        if verified.count >= Self.verifiedLimit { verified = [:] }
        verified[name] = token
        return token
    }

    /// Checks the time to live (PushServices.md, section 10.6, row 7).
    private func timeToLive(_ fields: HTTPFields) throws(WebPushRefusal) -> Int64 {
        guard let text = fields["ttl"] else { throw .missingTTL }
        guard let seconds = Int64(text), seconds >= 0 else { throw .badTTL }
        return min(seconds, Self.timeToLiveLimit)
    }

    /// Checks the urgency (PushServices.md, section 10.6, row 8).
    private func checkUrgency(_ fields: HTTPFields, _ flavour: WebPushFlavour) throws(WebPushRefusal) {
        guard flavour == .safari, let text = fields["urgency"] else { return }
        guard WebPushUrgency(rawValue: text) != nil else { throw .badUrgency }
    }

    /// Checks the topic (PushServices.md, section 10.6, row 9).
    private func topic(_ fields: HTTPFields) throws(WebPushRefusal) -> String? {
        guard let topic = fields["topic"] else { return nil }
        guard WebPushHeaders.isTopic(topic) else { throw .badTopic }
        return topic
    }

    /// Checks the encoding and the size of the body (PushServices.md, section 10.6, rows 10 and 11).
    /// - Returns: The encrypted content; nil for a message without content.
    private func content(_ request: HTTPRequest) throws(WebPushRefusal) -> EncryptedContent? {
        guard !request.body.isEmpty else { return nil }
        guard request.fields["content-encoding"] == "aes128gcm", request.fields["encryption"] == nil,
            request.fields["crypto-key"] == nil
        else { throw .badContent }
        guard let content = EncryptedContent(request.body), P256PublicKey.isValid(rawPoint: content.keyID) else {
            throw .badContent
        }
        guard request.body.count <= configuration.bodyLimit else { throw .tooLarge }
        return content
    }

    /// Checks the limit of pushes per second (PushServices.md, section 10.6, row 13).
    private mutating func checkRate(of token: String, at now: Timestamp) throws(WebPushRefusal) {
        guard let limit = configuration.pushesPerSecond else { return }
        let recent = recentPushes[token, default: []].filter { now - $0 < .seconds(1) }
        recentPushes[token] = recent + [now]
        guard recent.count < limit else { throw .tooMany }
    }

    /// Decrypts a message (PushServices.md, section 10.6, row 14). Returns nil for a subscription of a real browser,
    /// and for a message that cannot be decrypted.
    ///
    /// A real service cannot decrypt messages. The simulator has the keys of made-up subscriptions. If a message for
    /// such a subscription cannot be decrypted, the sender has made a mistake, so the message is counted as
    /// `undecryptable`.
    private mutating func decrypt(_ content: EncryptedContent, for subscription: Subscription) -> [UInt8]? {
        guard case .here(let receiver) = subscription.keys else { return nil }
        let plaintext = try? receiver.decrypt(content, label: WebPush.encryptionLabel)
        if plaintext == nil { count("undecryptable") }
        return plaintext
    }
}

extension WebPushSimulator.Subscription {
    /// The browser that has the subscription, and that browser's id of the subscription; nil for a made-up
    /// subscription.
    var channel: BrowserChannel? {
        guard case .browser(let channel) = keys else { return nil }
        return channel
    }
}

/// The sender's proof in the field `authorization`, in the form `vapid t=…, k=…`.
///
/// The two parts may be in either order, with or without spaces between them.
struct VAPIDProof {
    let token: String
    let key: String

    init?(_ field: String) {
        guard field.lowercased().hasPrefix("vapid ") else { return nil }
        var values: [Substring: String] = [:]
        for part in field.dropFirst("vapid ".count).split(separator: ",") {
            let part = part.drop { $0 == " " }
            guard let sign = part.firstIndex(of: "=") else { return nil }
            values[part[..<sign]] = String(part[part.index(after: sign)...].filter { $0 != " " })
        }
        guard let token = values["t"], let key = values["k"] else { return nil }
        self.token = token
        self.key = key
    }
}
