import MartletHTTP
import MartletModel

/// Checks a push as the service does, in the order of PushServices.md, section 10.2.
///
/// Apple does not publish the order of the real checks.
extension APNsSimulator {
    /// Checks a push.
    /// - Throws: The `APNsRefusal` of the first check that fails.
    mutating func judge(_ request: HTTPRequest, id: String, at now: Timestamp) throws(APNsRefusal) -> APNsSimulatedPush
    {
        let connection = try connection(of: request, at: now)
        if let refusal = connections[connection]?.sticky { throw refusal }
        try checkFields(request.fields)
        let token = try deviceToken(request)
        let provider = try authorize(request.fields, on: connection, at: now)
        let (type, topic) = try topic(request.fields, provider: provider, on: connection)
        try checkPriority(request.fields, of: type)
        let expiration = try expiration(request.fields)
        let payload = try payload(request, of: type)
        try checkDevice(token, topic: topic, at: now)
        if let provider { connections[connection]?.bind(to: provider) }
        return APNsSimulatedPush(
            id: id, token: token.lowercased(), fields: request.fields, payload: payload, expiration: expiration,
            at: now)
    }

    /// Checks the protocol and the certificate (PushServices.md, section 10.2, rows 1 and 2).
    private mutating func connection(of request: HTTPRequest, at now: Timestamp) throws(APNsRefusal) -> UInt64 {
        guard let connection = request.connection, connection.majorVersion == 2 else {
            throw APNsRefusal(505, "HTTP2Required")
        }
        if connections[connection.id] == nil {
            connections[connection.id] = try APNsSimulatedConnection(
                connection, environment: configuration.environment, at: now)
        }
        return connection.id
    }

    /// Checks the header fields and the id of the push (PushServices.md, section 10.2, rows 4 and 5).
    private func checkFields(_ fields: HTTPFields) throws(APNsRefusal) {
        guard Set(fields.map(\.name)).count == fields.count else { throw APNsRefusal(.badRequest, "DuplicateHeaders") }
        if let id = fields["apns-id"], Self.canonicalID(id) == nil { throw APNsRefusal(.badRequest, "BadMessageId") }
    }

    /// Checks the method and the path (PushServices.md, section 10.2, rows 6 to 8).
    /// - Returns: The device token in the path.
    private func deviceToken(_ request: HTTPRequest) throws(APNsRefusal) -> String {
        guard request.method == .post else { throw APNsRefusal(.methodNotAllowed, "MethodNotAllowed") }
        guard request.target.hasPrefix(APNs.devicePath) || request.target == String(APNs.devicePath.dropLast()) else {
            throw APNsRefusal(.notFound, "BadPath")
        }
        let token = request.target.dropFirst(APNs.devicePath.count)
        guard !token.contains("/") else { throw APNsRefusal(.notFound, "BadPath") }
        guard !token.isEmpty else { throw APNsRefusal(.badRequest, "MissingDeviceToken") }
        return String(token)
    }

    /// Checks the provider token (PushServices.md, section 10.2, rows 9 to 14).
    /// - Returns: The provider token; nil if the sender has a certificate.
    private mutating func authorize(
        _ fields: HTTPFields, on connection: UInt64, at now: Timestamp
    ) throws(APNsRefusal) -> APNsProviderToken? {
        if connections[connection]?.certificate != nil { return nil }
        guard let field = fields.first(where: { $0.name == "authorization" }), !field.value.isEmpty else {
            throw APNsRefusal(.forbidden, "MissingProviderToken")
        }
        guard field.value.lowercased().hasPrefix("bearer ") else {
            throw APNsRefusal(.forbidden, "InvalidProviderToken")
        }
        let text = field.value.dropFirst("bearer ".count)
        let provider = try keys.token(text, environment: configuration.environment, at: now)
        try connections[connection]?.use(provider, String(text), at: now)
        // The real service only recommends that this field is not indexed. The simulator refuses an indexed field, so
        // that the sender notices the mistake.
        guard field.indexing == .never else { throw APNsRefusal(.badRequest, "AuthorizationInHeaderTable") }
        return provider
    }

    /// Checks the push type and its topic (PushServices.md, section 10.2, rows 15 to 18).
    private func topic(
        _ fields: HTTPFields, provider: APNsProviderToken?, on connection: UInt64
    ) throws(APNsRefusal) -> (APNsPushType, topic: String) {
        let certificate = connections[connection]?.certificate
        let only = certificate.flatMap { $0.topics.count == 1 ? $0.topics.first : nil }
        guard let topic = fields["apns-topic"] ?? only, !topic.isEmpty else {
            throw APNsRefusal(.badRequest, "MissingTopic")
        }
        guard let type = APNsPushType(rawValue: fields["apns-push-type"] ?? APNsPushType.alert.rawValue),
            certificate == nil ? type.allowsToken : type.allowsCertificate
        else { throw APNsRefusal(.badRequest, "InvalidPushType") }
        guard APNsHeaders.isTopic(topic), type.fits(topic) else { throw APNsRefusal(.badRequest, "BadTopic") }
        let bundleID = String(topic.dropLast(type.topicSuffix.count))
        let isAllowed = certificate.map { $0.topics.contains(topic) || $0.topics.contains(bundleID) }
        guard isAllowed ?? mayUse(bundleID, provider) else { throw APNsRefusal(.badRequest, "TopicDisallowed") }
        return (type, topic)
    }

    private func mayUse(_ bundleID: String, _ provider: APNsProviderToken?) -> Bool {
        guard let team = teams[bundleID] else { return configuration.acceptsAnyKey }
        return team == provider?.teamID
    }

    /// Checks the priority (PushServices.md, section 10.2, row 19).
    private func checkPriority(_ fields: HTTPFields, of type: APNsPushType) throws(APNsRefusal) {
        guard let text = fields["apns-priority"] else { return }
        guard let priority = Int(text).flatMap(APNsPriority.init(rawValue:)),
            type != .background || priority != .immediate
        else { throw APNsRefusal(.badRequest, "BadPriority") }
    }

    /// Checks the expiration and the collapse id (PushServices.md, section 10.2, rows 20 and 21).
    /// - Returns: The expiration in Unix seconds; nil if the push states none.
    private func expiration(_ fields: HTTPFields) throws(APNsRefusal) -> Int64? {
        var expiration: Int64?
        if let text = fields["apns-expiration"] {
            guard let seconds = Int64(text), seconds >= 0 else {
                throw APNsRefusal(.badRequest, "BadExpirationDate")
            }
            expiration = seconds
        }
        guard (fields["apns-collapse-id"] ?? "").utf8.count <= APNsHeaders.collapseIDLimit else {
            throw APNsRefusal(.badRequest, "BadCollapseId")
        }
        return expiration
    }

    /// Checks the body (PushServices.md, section 10.2, rows 22 to 24).
    private func payload(_ request: HTTPRequest, of type: APNsPushType) throws(APNsRefusal) -> JSON {
        guard !request.body.isEmpty else { throw APNsRefusal(.badRequest, "PayloadEmpty") }
        guard request.body.count <= type.payloadLimit else { throw APNsRefusal(.contentTooLarge, "PayloadTooLarge") }
        guard let payload = try? JSON(parsing: request.body), case .object = payload else {
            throw APNsRefusal(.badRequest, "PayloadEmpty")
        }
        return payload
    }

    /// Checks the device token (PushServices.md, section 10.2, rows 25 to 28).
    ///
    /// A token is valid for only one topic. For example, the token for an app's calls differs from the token for the
    /// app's alerts.
    private mutating func checkDevice(_ text: String, topic: String, at now: Timestamp) throws(APNsRefusal) {
        guard let token = APNs.canonicalToken(text) else { throw APNsRefusal(.badRequest, "BadDeviceToken") }
        // A token that ends in a fault marker was made up by a test, so its device is added here.
        if APNsMarker(endOf: token) != nil, devices[token] == nil { devices.add(token, app: topic) }
        guard let device = devices[token] else { throw APNsRefusal(.badRequest, "BadDeviceToken") }
        guard device.app == topic else { throw APNsRefusal(.badRequest, "DeviceTokenNotForTopic") }
        if let removedAt = device.removedAt { throw APNsRefusal(.gone, "Unregistered", timestamp: removedAt) }
        try checkRate(of: token, at: now)
    }

    private mutating func checkRate(of token: String, at now: Timestamp) throws(APNsRefusal) {
        guard let limit = configuration.pushesPerSecond else { return }
        let recent = recentPushes[token, default: []].filter { now - $0 < .seconds(1) }
        recentPushes[token] = recent + [now]
        guard recent.count < limit else { throw APNsRefusal(.tooManyRequests, "TooManyRequests") }
    }
}
