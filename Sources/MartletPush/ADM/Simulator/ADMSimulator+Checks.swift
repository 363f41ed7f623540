import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Checks a message as the service does, in the order of PushServices.md, section 10.7.
extension ADMSimulator {
    private static let keyLimit = 64
    private static let lifetimes: ClosedRange<Int64> = 1...2_678_400

    mutating func judge(_ request: HTTPRequest, at now: Timestamp) throws(ADMRefusal) -> ADMSimulatedPush {
        guard let handle = Self.handle(of: request) else { throw ADMRefusal(.notFound) }
        guard request.method == .post else { throw ADMRefusal(.methodNotAllowed) }
        guard request.fields["x-amzn-type-version"] == ADM.messageType,
            request.fields["x-amzn-accept-type"] == ADM.resultType
        else { throw ADMRefusal(reason: "InvalidType") }
        let payload = try Self.payload(request)
        let app = try authorize(request.fields, at: now)
        // A registration id that ends in a fault marker was made up by a test, so its device is added here.
        if devices[handle] == nil, HandleMarker(endOf: handle) != nil { devices.add(handle, app: app) }
        guard let device = devices[handle], device.app == app else { throw ADMRefusal(reason: "InvalidRegistrationId") }
        guard device.removedAt == nil else { throw ADMRefusal(reason: "Unregistered") }
        try Self.checkMembers(of: payload)
        guard request.body.count <= ADM.descriptor.payloadLimit else { throw ADMRefusal(reason: "MessageTooLarge") }
        try checkRate(of: app, at: now)
        return ADMSimulatedPush(handle: handle, payload: payload, acceptedAt: now)
    }

    /// Returns the registration id in a request's path; nil for any other path.
    static func handle(of request: HTTPRequest) -> String? {
        let path = request.target
        guard path.hasPrefix(sendPath.prefix), path.hasSuffix(sendPath.suffix),
            path.utf8.count > sendPath.prefix.utf8.count + sendPath.suffix.utf8.count
        else { return nil }
        return PercentEncoding.decode(path.dropFirst(sendPath.prefix.count).dropLast(sendPath.suffix.count))
    }

    private static func payload(_ request: HTTPRequest) throws(ADMRefusal) -> JSON {
        let type = request.fields["content-type"]?.split(separator: ";").first ?? ""
        guard type.lowercased() == "application/json",
            let payload = try? JSON(parsing: request.body, maximumDepth: 16), payload.object != nil
        else { throw ADMRefusal(reason: "InvalidData") }
        return payload
    }

    /// Checks the access token.
    /// - Returns: The app that the token was issued to.
    private func authorize(_ fields: HTTPFields, at now: Timestamp) throws(ADMRefusal) -> String {
        guard let token = SimulatedTokens.bearer(fields) else { throw ADMRefusal(.unauthorized) }
        switch tokens.judge(token, at: now) {
        case .valid(let app): return app
        case .expired: throw ADMRefusal(reason: "AccessTokenExpired")
        case .unknown: throw ADMRefusal(.unauthorized)
        }
    }

    private static func checkMembers(of payload: JSON) throws(ADMRefusal) {
        let data = payload["data"] ?? [:]
        guard let members = data.object, members.values.allSatisfy({ $0.string != nil }) else {
            throw ADMRefusal(reason: "InvalidData")
        }
        let key = payload["consolidationKey"]
        guard !members.isEmpty || key != nil || payload["notification"] != nil else {
            throw ADMRefusal(reason: "InvalidData")
        }
        guard key == nil || key?.string.map({ (1...keyLimit).contains($0.utf8.count) }) == true else {
            throw ADMRefusal(reason: "InvalidConsolidationKey")
        }
        let lifetime = payload["expiresAfter"]
        guard lifetime == nil || lifetime?.integer.map({ lifetimes.contains($0) }) == true else {
            throw ADMRefusal(reason: "InvalidExpiration")
        }
        if let checksum = payload["md5"] {
            guard checksum.string == Self.checksum(members) else { throw ADMRefusal(reason: "InvalidChecksum") }
        }
    }

    /// Returns the checksum that the member `md5` must have: the MD5 hash, in Base64, of the members of `data` sorted
    /// by name.
    static func checksum(_ members: [String: JSON]) -> String {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let text = sorted.map { "\($0.key):\($0.value.string ?? "")" }.joined(separator: ",")
        return Base64.encode(MD5.hash(Array(text.utf8)))
    }

    private mutating func checkRate(of app: String, at now: Timestamp) throws(ADMRefusal) {
        guard let limit = configuration.pushesPerSecond else { return }
        let recent = recentPushes[app, default: []].filter { now - $0 < .seconds(1) }
        recentPushes[app] = recent + [now]
        guard recent.count < limit else { throw ADMRefusal(.tooManyRequests, "MaxRateExceeded", retryAfter: "1") }
    }
}
