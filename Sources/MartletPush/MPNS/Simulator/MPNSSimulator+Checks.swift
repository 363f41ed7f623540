import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Checks a request as the service does, in the order of PushServices.md, section 10.5.
extension MPNSSimulator {
    mutating func judge(_ request: HTTPRequest, at now: Timestamp) throws(MPNSRefusal) -> MPNSSimulatedPush {
        guard request.method == .post else { throw .method }
        let handle = handle(of: request)
        // A channel URI that ends in a fault marker was made up by a test, so its device is added here.
        if devices[handle] == nil, HandleMarker(endOf: handle) != nil, request.target.hasPrefix(ChannelPath.open) {
            devices.add(handle, app: Self.anybody)
        }
        guard let device = devices[handle], device.removedAt == nil else { throw .unknownChannel }
        if device.app != Self.anybody, !configuration.acceptsAnyKey {
            guard Self.name(of: request.connection) == device.app else { throw .otherCertificate }
        }
        let (kind, classText) = try Self.kind(request.fields)
        let markup = try Self.markup(request.body, kind)
        guard request.body.count <= (kind == .raw ? configuration.rawBodyLimit : configuration.bodyLimit) else {
            throw .badRequest
        }
        if device.app == Self.anybody { try checkDay(of: handle, at: now) }
        return MPNSSimulatedPush(
            handle: handle, body: request.body, kind: kind, markup: markup, classText: classText,
            messageID: request.fields["x-messageid"], acceptedAt: now)
    }

    /// Returns the common name in the sender's certificate; nil if the sender has shown no certificate.
    private static func name(of connection: HTTPConnection?) -> String? {
        guard let der = connection?.peerCertificate else { return nil }
        return try? Certificate(der: der).commonName
    }

    /// Checks that the class and the target name the same type of notification, and returns them.
    private static func kind(_ fields: HTTPFields) throws(MPNSRefusal) -> (MPNS.Kind, String) {
        guard let text = fields["x-notificationclass"], let number = Int(text), (1...31).contains(number),
            let kind = MPNS.Kind(classNumber: text)
        else { throw .badRequest }
        guard fields["x-windowsphone-target"]?.lowercased() == kind.target else { throw .badRequest }
        return (kind, text)
    }

    private static func markup(_ body: [UInt8], _ kind: MPNS.Kind) throws(MPNSRefusal) -> SimulatedMarkup? {
        guard kind != .raw else { return nil }
        guard let markup = SimulatedMarkup(body), let root = markup.elements.first, root.name == "Notification",
            root.attributes.contains("WPNotification"),
            markup.elements.contains(where: { $0.depth == 1 && $0.name == (kind == .tile ? "Tile" : "Toast") })
        else { throw .badRequest }
        return markup
    }

    private mutating func checkDay(of handle: String, at now: Timestamp) throws(MPNSRefusal) {
        let day = now.seconds / 86_400
        let count = days[handle].map { $0.day == day ? $0.count : 0 } ?? 0
        guard count < configuration.dailyLimit else { throw .overQuota }
        days[handle] = (day, count + 1)
    }
}
