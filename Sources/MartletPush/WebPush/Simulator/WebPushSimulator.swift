public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// The push services of browsers as their senders know them, with made-up subscriptions whose keys are known here, so that
/// what arrives can be shown; and the push service of real browsers.
public struct WebPushSimulator: PushServiceSimulator {
    /// How strict the simulated services are.
    public struct Configuration: Sendable {
        /// Whether a subscription that was made without a sender's key takes messages of any sender.
        public var acceptsAnyKey = false
        /// The largest body in bytes.
        public var bodyLimit = 4096
        /// Pushes to one subscription within a second before it is too many; nil for no limit.
        public var pushesPerSecond: Int?

        public init() {}
    }

    /// A subscription as its browser would know it.
    struct Subscription {
        /// Who can open messages.
        enum Keys {
            /// The simulator.
            case here(MessageReceiver)
            /// A real browser alone.
            case browser(BrowserChannel)
        }

        /// The text that a hub registers: the endpoint and the keys as JSON. For a real browser, the endpoint.
        let handle: String
        let keys: Keys
        /// The sender's key that it was made with; nil takes any.
        let senderKey: [UInt8]?
    }

    public static let platform = WebPush.descriptor.platform

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    /// Where the endpoints are, which is what a sender's proof must name.
    var origin = HTTPOrigin(scheme: .https, host: "localhost")
    /// By what follows the prefix of the endpoint's path.
    var subscriptions: [String: Subscription] = [:]
    var browsers = SimulatedBrowsers()
    var recentPushes: [String: [Timestamp]] = [:]
    /// Proofs that were verified, with their keys.
    var verified: [String: VAPIDToken] = [:]
    /// The key of subscriptions that name none.
    private var senderKey: [UInt8]?
    private var nextMessage = 1

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(request, at: now) { simulator, push, flavour in simulator.accept(push, flavour) }
    }

    mutating func answer(
        _ request: HTTPRequest, at now: Timestamp,
        _ take: (inout WebPushSimulator, WebPushSimulatedPush, WebPushFlavour) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        let flavour = WebPushFlavour(path: request.target) ?? .mozilla
        do throws(WebPushRefusal) {
            return take(&self, try judge(request, flavour, at: now), flavour)
        } catch {
            return refuse(error, flavour, retryAfter: error == .tooMany ? "1" : nil)
        }
    }

    mutating func refuse(_ refusal: WebPushRefusal, _ flavour: WebPushFlavour, retryAfter: String?) -> SimulatedAnswer {
        count("refused.\(refusal.name)")
        return SimulatedAnswer(refusal.response(flavour, retryAfter: retryAfter))
    }

    /// - Parameter app: `publicKey`, the sender's key in base64url, for subscriptions that name none.
    public mutating func register(app: JSON) throws(SimulatorError) {
        guard let key = try Self.key(app["publicKey"]) else {
            throw SimulatorError("\"publicKey\" must be the sender's public key in base64url.")
        }
        senderKey = key
    }

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        self.origin = origin
        do throws(CryptoError) {
            let key = try P256PrivateKey.generate()
            let point = key.publicKey.rawPoint
            // Where anybody's key is taken, subscriptions stay everybody's.
            if !configuration.acceptsAnyKey { senderKey = point }
            return Credential([
                WebPushCredential.Property.subject: "mailto:push@example.com",
                WebPushCredential.Property.publicKey: Base64URL.encode(point),
                WebPushCredential.Property.privateKey: Base64URL.encode(try key.rawScalar().bytes),
                WebPushCredential.Property.allowedHosts: origin.host,
                WebPushCredential.Property.endpointAuthority: authorityPEM,
            ])
        } catch {
            throw SimulatorError("A credential cannot be made: \(error)")
        }
    }

    /// - Parameter description: `service` names whose service it is, Mozilla's where it is left out; `publicKey` is the
    ///   sender's key that the subscription is for.
    /// - Returns: A subscription as JSON text: `{"auth", "endpoint", "p256dh"}`.
    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let name = description["service"]?.string ?? WebPushFlavour.mozilla.rawValue
        guard let flavour = WebPushFlavour(rawValue: name) else {
            let names = WebPushFlavour.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError("\"service\" must be one of these: \(names).")
        }
        let receiver: MessageReceiver
        do throws(CryptoError) {
            receiver = try MessageReceiver.generate()
        } catch {
            throw SimulatorError("A subscription cannot be made: \(error)")
        }
        let token = Base64URL.encode(RandomBytes.generate(24))
        let subscription: JSON = [
            "endpoint": .string("\(origin)\(flavour.pathPrefix)\(token)"),
            "p256dh": .string(Base64URL.encode(receiver.privateKey.publicKey.rawPoint)),
            "auth": .string(Base64URL.encode(receiver.secret)),
        ]
        let handle = String(decoding: subscription.bytes, as: UTF8.self)
        subscriptions[token] = Subscription(
            handle: handle, keys: .here(receiver), senderKey: try Self.key(description["publicKey"]) ?? senderKey)
        devices.add(handle, app: flavour.rawValue)
        return handle
    }

    private static func key(_ member: JSON?) throws(SimulatorError) -> [UInt8]? {
        guard let member else { return nil }
        guard let point = member.string.flatMap({ WebPushSubscription.decode($0.utf8) }),
            P256PublicKey.isValid(rawPoint: point)
        else { throw SimulatorError("\"publicKey\" must be the sender's public key in base64url.") }
        return point
    }

    mutating func accept(_ push: WebPushSimulatedPush, _ flavour: WebPushFlavour) -> SimulatedAnswer {
        count("accepted")
        let id = "\(nextMessage)"
        nextMessage += 1
        let delivery = push.delivery(id: id)
        let fate = devices.accept(delivery, keepingOlder: { !push.replaces($0) })
        count(fate.rawValue)
        let fields: HTTPFields = ["location": "\(origin)/m/\(id)", "ttl": String(push.timeToLive)]
        return SimulatedAnswer(
            HTTPResponse(.created, fields: fields), delivery: fate == .delivered ? delivery : nil,
            socketSteps: push.channel.map { deliver(push, id: id, to: $0) } ?? [])
    }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }
}

/// What a request's path says after the prefix: a subscription's token, and a fault that is asked for.
struct WebPushSimulatedEndpoint {
    let token: String
    let marker: HandleMarker?

    /// nil where it cannot be an endpoint of this simulator, or asks for a fault that there is not.
    init?(_ target: String) {
        guard let flavour = WebPushFlavour(path: target) else { return nil }
        let parts = target.dropFirst(flavour.pathPrefix.count)
            .split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, Base64URL.decode(first)?.count == 24 else { return nil }
        token = String(first)
        marker = HandleMarker(endOf: target)
        if parts.count == 2, marker == nil { return nil }
    }
}
