import MartletCore
import MartletHTTP
import MartletModel

/// Checks a request as the service does, in the order of PushServices.md, section 10.4.
extension WNSSimulator {
    /// The value of `Retry-After` for an app that sends too much, in seconds.
    private static let throttleWait = "1"

    mutating func judge(_ request: HTTPRequest, at now: Timestamp) throws(WNSRefusalAnswer) -> WNSSimulatedPush {
        guard request.method == .post else { throw WNSRefusalAnswer(.method) }
        guard let token = SimulatedTokens.bearer(request.fields), case .valid(let app) = tokens.judge(token, at: now)
        else { throw WNSRefusalAnswer(.badToken) }
        let handle = "\(origin)\(request.target)"
        // A channel URI that ends in a fault marker was made up by a test, so its device is added here.
        if devices[handle] == nil, HandleMarker(endOf: handle) != nil, request.target.hasPrefix(WNSChannelPath.prefix) {
            devices.add(handle, app: app)
        }
        guard let device = devices[handle] else { throw WNSRefusalAnswer(.unknownChannel) }
        guard device.app == app else { throw WNSRefusalAnswer(.otherApp) }
        guard device.removedAt == nil else { throw WNSRefusalAnswer(.expiredChannel) }
        guard !blocked.contains(app) else { throw WNSRefusalAnswer(.domainBlocked) }
        try Self.checkLength(request)
        let type = try Self.checkFields(request.fields)
        guard request.body.count <= WNS.descriptor.payloadLimit else { throw WNSRefusalAnswer(.tooLarge) }
        try checkRate(app, configuration.pushesPerSecond, .appThrottled, at: now)
        try checkRate(handle, configuration.pushesPerSecondAndChannel, .channelThrottled, at: now)
        let own = request.fields.filter { $0.name.hasPrefix("x-wns-") }.map { ($0.name, $0.value) }
        return WNSSimulatedPush(
            handle: handle, body: request.body, type: type,
            fields: Dictionary(own) { first, _ in first }.merging(["x-wns-type": type]) { $1 }, acceptedAt: now)
    }

    /// Checks that the length of the body is stated (PushServices.md, section 10.4, row 7).
    private static func checkLength(_ request: HTTPRequest) throws(WNSRefusalAnswer) {
        guard request.connection?.majorVersion != 2 else { return }
        guard request.fields["content-length"] != nil, request.fields["transfer-encoding"] == nil else {
            throw WNSRefusalAnswer(.badRequest, "Content-Length is missing")
        }
    }

    /// Checks the header fields (PushServices.md, section 10.4, row 8).
    /// - Returns: The type, in lower case.
    private static func checkFields(_ fields: HTTPFields) throws(WNSRefusalAnswer) -> String {
        let type = fields["x-wns-type"]?.lowercased() ?? ""
        guard ["wns/toast", "wns/tile", "wns/badge", WNS.rawType].contains(type) else {
            throw WNSRefusalAnswer(.badRequest, "X-WNS-Type is missing or unknown")
        }
        let contentType = fields["content-type"]?.lowercased().split(separator: ";").first ?? ""
        guard contentType == (type == WNS.rawType ? "application/octet-stream" : "text/xml") else {
            throw WNSRefusalAnswer(.badRequest, "Content-Type does not fit X-WNS-Type")
        }
        for name in ["x-wns-tag", "x-wns-group"] {
            guard fields[name].map(WNS.isTag) ?? true else {
                throw WNSRefusalAnswer(.badRequest, "\(name) is longer than \(WNS.tagLimit) letters and digits")
            }
        }
        guard fields["x-wns-ttl"].map({ (Int64($0) ?? -1) >= 0 }) ?? true else {
            throw WNSRefusalAnswer(.badRequest, "X-WNS-TTL is not a number of seconds")
        }
        guard fields["x-wns-cache-policy"].map({ ["cache", "no-cache"].contains($0.lowercased()) }) ?? true else {
            throw WNSRefusalAnswer(.badRequest, "X-WNS-Cache-Policy is neither cache nor no-cache")
        }
        guard fields["x-wns-suppresspopup"] == nil else {
            throw WNSRefusalAnswer(.badRequest, "X-WNS-SuppressPopup is for phones")
        }
        return type
    }

    /// Checks a limit of pushes per second (PushServices.md, section 10.4, row 10).
    /// - Parameters:
    ///   - name: The app or the channel whose pushes are counted.
    ///   - refusal: The answer if the limit is exceeded.
    private mutating func checkRate(
        _ name: String, _ limit: Int?, _ refusal: WNSRefusal, at now: Timestamp
    ) throws(WNSRefusalAnswer) {
        guard let limit else { return }
        let recent = recentPushes[name, default: []].filter { now - $0 < .seconds(1) }
        recentPushes[name] = recent + [now]
        guard recent.count < limit else {
            throw WNSRefusalAnswer(refusal, retryAfter: refusal == .appThrottled ? Self.throttleWait : nil)
        }
    }
}
