import MartletCrypto
import MartletHTTP
import MartletModel

/// Checks a message as the service does, in the order of PushServices.md, section 10.3.
extension FCMSimulator {
    mutating func judge(_ request: HTTPRequest, at now: Timestamp) throws(FCMRefusal) -> FCMSimulatedPush {
        let project = try project(request)
        let grant = try authorize(request.fields, at: now)
        guard grant.projectID.map({ $0 == project }) ?? true else { throw .noPermission(project) }
        let body = try Self.body(request)
        let message = body["message"] ?? [:]
        try Self.checkTarget(message)
        try Self.checkValues(message)
        guard FCMMessage.size(of: message) <= (message["token"] == nil ? 2048 : FCMMessage.sizeLimit) else {
            throw .tooBig
        }
        try checkApplePart(message, of: project)
        let token = message["token"]?.string
        if let token { try checkDevice(token, of: project) }
        try checkQuota("project \(project)", configuration.messagesPerMinute, .sendRequests, at: now)
        if let token {
            try checkQuota("device \(token)", configuration.deviceMessagesPerMinute, .deviceQuota, at: now)
        }
        let content = (message.object ?? [:]).filter { !FCMMessage.targetNames.contains($0.key) }
        return FCMSimulatedPush(
            projectID: project, token: token, message: .object(content),
            isOnlyValidated: body["validate_only"] == true, acceptedAt: now)
    }

    /// Checks the method and the path (PushServices.md, section 10.3, row 1).
    ///
    /// The paths of the legacy API are refused like any unknown path, because Google has switched that API off.
    /// - Returns: The project in the path.
    private func project(_ request: HTTPRequest) throws(FCMRefusal) -> String {
        guard request.method == .post, request.target.hasPrefix(FCM.pathPrefix),
            request.target.hasSuffix(FCM.pathSuffix)
        else { throw .notServed }
        let project = String(request.target.dropFirst(FCM.pathPrefix.count).dropLast(FCM.pathSuffix.count))
        guard FCMCredential.isProjectID(project) else { throw .notServed }
        return project
    }

    /// Checks the access token (PushServices.md, section 10.3, row 2).
    private func authorize(_ fields: HTTPFields, at now: Timestamp) throws(FCMRefusal) -> Grant {
        guard let field = fields["authorization"], !field.isEmpty else { throw .noCredential }
        guard field.lowercased().hasPrefix("bearer "), let grant = grants[String(field.dropFirst("bearer ".count))]
        else { throw .badCredential }
        guard now < grant.expiresAt else { throw .expiredCredential }
        return grant
    }

    /// Checks the body's members and their types (PushServices.md, section 10.3, row 4).
    private static func body(_ request: HTTPRequest) throws(FCMRefusal) -> JSON {
        guard let body = try? JSON(parsing: request.body), case .object = body else { throw .unreadable }
        return try FCMField.envelope().read(body, at: "")
    }

    /// Checks that the message has one target (PushServices.md, section 10.3, row 5).
    private static func checkTarget(_ message: JSON) throws(FCMRefusal) {
        let targets = ["token", "topic", "condition"].filter { !(message[$0]?.string ?? "").isEmpty }
        guard targets.count == 1 else { throw .invalidArgument }
    }

    /// Checks reserved names and the values of members (PushServices.md, section 10.3, row 6).
    private static func checkValues(_ message: JSON) throws(FCMRefusal) {
        for data in [message["data"], message["android"]?["data"]] {
            guard !(data?.object ?? [:]).keys.contains(where: FCMMessage.isReserved) else { throw .invalidArgument }
        }
        if let text = message["android"]?["ttl"]?.string, FCMMessage.timeToLive(text) == nil {
            throw .violation(
                "message.android.ttl",
                "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration)")
        }
        if let color = message["android"]?["notification"]?["color"]?.string {
            let digits = color.dropFirst()
            guard color.hasPrefix("#"), digits.utf8.count == 6, Hex.decode(String(digits)) != nil else {
                throw .invalidArgument
            }
        }
        if let link = message["webpush"]?["fcm_options"]?["link"]?.string {
            guard link.hasPrefix("https://") else { throw .invalidArgument }
        }
        if let topic = message["topic"]?.string {
            guard topic.utf8.allSatisfy(isTopicCharacter) else { throw .invalidArgument }
        }
    }

    private static func isTopicCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-_.~%".utf8.contains(character)
        }
    }

    /// Checks the member `apns`, and checks that the project can send to Apple devices (PushServices.md, section 10.3,
    /// row 8).
    private func checkApplePart(_ message: JSON, of project: String) throws(FCMRefusal) {
        if let part = message["apns"] {
            if let payload = part["payload"], payload["aps"]?.object == nil { throw .invalidArgument }
            let headers = part["headers"]?.object ?? [:]
            if let priority = headers["apns-priority"]?.string {
                guard ["1", "5", "10"].contains(priority) else { throw .invalidArgument }
            }
            if let expiration = headers["apns-expiration"]?.string {
                guard Int64(expiration).map({ $0 >= 0 }) ?? false else { throw .invalidArgument }
            }
            guard (headers["apns-collapse-id"]?.string ?? "").utf8.count <= 64 else { throw .invalidArgument }
        }
        if let token = message["token"]?.string, appleDevices.contains(token), projectsWithoutApple.contains(project) {
            throw .otherServicesCredential
        }
    }

    /// Checks the registration token (PushServices.md, section 10.3, rows 9 to 11).
    private mutating func checkDevice(_ token: String, of project: String) throws(FCMRefusal) {
        // A token that ends in a fault marker was made up by a test, so its device is added here.
        if HandleMarker(endOf: token) != nil, devices[token] == nil { devices.add(token, app: project) }
        guard let device = devices[token] else {
            throw Self.isPlausible(token) ? .unregistered : .badToken
        }
        guard device.app == project else { throw .otherSender }
        guard device.removedAt == nil else { throw .unregistered }
    }

    /// Returns whether a token has the form of a real device's token.
    private static func isPlausible(_ token: String) -> Bool {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count >= 11 && parts[1].utf8.count >= 100
            && parts.allSatisfy { $0.utf8.allSatisfy { isTopicCharacter($0) && $0 != UInt8(ascii: "~") } }
    }

    /// Checks a quota of messages per minute (PushServices.md, section 10.3, rows 12 and 13).
    /// - Parameters:
    ///   - key: The project or the device whose messages are counted.
    ///   - refusal: The answer if the quota is exceeded.
    private mutating func checkQuota(
        _ key: String, _ limit: Int?, _ refusal: FCMRefusal, at now: Timestamp
    ) throws(FCMRefusal) {
        guard let limit else { return }
        let recent = sent[key, default: []].filter { now - $0 < .seconds(60) }
        guard recent.count < limit else { throw refusal }
        sent[key] = recent + [now]
    }
}

/// Checks a request for an access token.
extension FCMSimulator {
    /// The tolerated difference between clocks, in seconds.
    private static let slack: Int64 = 300
    private static let scopes = [FCMAssertion.scope, "https://www.googleapis.com/auth/cloud-platform"]

    func judgeAssertion(_ request: HTTPRequest, at now: Timestamp) throws(FCMRefusal) -> Grant {
        guard request.method == .post else { throw .notServed }
        guard request.fields["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        else { throw .token("invalid_request", "The request has another content type than a form.") }
        guard let form = HTTPTarget("/?" + String(decoding: request.body, as: UTF8.self)) else {
            throw .token("invalid_request", "The request is no form.")
        }
        let grantType = form.item("grant_type")?.value ?? ""
        guard grantType == FCMAssertion.grantType else {
            throw .token("unsupported_grant_type", "Invalid grant_type: \(grantType)")
        }
        guard let text = form.item("assertion")?.value else {
            throw .token("invalid_request", "Missing required parameter: assertion")
        }
        guard let assertion = FCMAssertion(text), let issuer = assertion.claims["iss"]?.string else {
            throw .badSignature
        }
        let account = accounts[issuer]
        if let account {
            guard assertion.isSigned(by: account.key) else { throw .badSignature }
        } else if !configuration.acceptsAnyKey {
            throw .noAccount
        }
        try checkClaims(of: assertion.claims, at: now)
        return Grant(projectID: account?.projectID, expiresAt: now + .seconds(Self.lifetime))
    }

    private func checkClaims(of claims: JSON, at now: Timestamp) throws(FCMRefusal) {
        // An assertion that names Google's production endpoint in `aud` is accepted too, because Google's library
        // google-auth for Python always names that endpoint, even if it sends the assertion to another endpoint.
        guard [audience, FCMCredential.productionTokenEndpoint].contains(claims["aud"]?.string) else {
            throw .badAudience
        }
        guard let issued = claims["iat"]?.integer, let end = claims["exp"]?.integer,
            (0...Self.lifetime + Self.slack).contains(end.subtractingReportingOverflow(issued).partialValue),
            issued - Self.slack <= now.seconds, now.seconds <= end
        else { throw .badTimes }
        let scopes = (claims["scope"]?.string ?? "").split(separator: " ")
        guard scopes.contains(where: { Self.scopes.contains(String($0)) }) else { throw .badScope }
    }
}
