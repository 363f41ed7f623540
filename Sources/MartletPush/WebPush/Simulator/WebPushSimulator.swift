public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of browsers' push services as seen by senders, with made-up subscriptions.
///
/// The simulator has the keys of the made-up subscriptions, so it can decrypt and show their messages. It also serves
/// real browsers.
public struct WebPushSimulator: PushServiceSimulator {
    /// The settings of the simulated services: their limits, and whether they accept unknown senders.
    public struct Configuration: Sendable {
        /// Whether a subscription that was created without a sender's key accepts messages from any sender, instead of
        /// only from the sender of the issued credential. After a sender was registered, new subscriptions accept only
        /// that sender.
        public var acceptsAnyKey = false
        /// The maximum size of the body, in bytes.
        public var bodyLimit = 4096
        /// The maximum number of pushes to one subscription per second; nil for no limit.
        public var pushesPerSecond: Int?

        public init() {}
    }

    /// A subscription, with its keys and the sender for whom it was created.
    struct Subscription {
        /// Who has the keys to decrypt messages for the subscription.
        enum Keys {
            /// The simulator has the keys of a made-up subscription.
            case here(MessageReceiver)
            /// Only a real browser has the keys.
            case browser(BrowserChannel)
        }

        /// The handle to register with a hub: the endpoint and the keys as JSON. For the subscription of a real
        /// browser, this is only the endpoint, because only the browser knows the keys.
        let handle: String
        let keys: Keys
        /// The key of the sender for whom the subscription was created; nil if it accepts any sender.
        let senderKey: [UInt8]?
    }

    public static let platform = WebPush.descriptor.platform

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    /// The origin of the endpoints. A sender's proof must name this origin as its audience.
    var origin = HTTPOrigin(scheme: .https, host: "localhost")
    /// The subscriptions by token. The token is the part of the endpoint's path after `WebPushFlavour.pathPrefix`.
    var subscriptions: [String: Subscription] = [:]
    var browsers = SimulatedBrowsers()
    var recentPushes: [String: [Timestamp]] = [:]
    /// The tokens of the proofs that were already verified.
    ///
    /// The dictionary's key is the text of the token, a space, and the text of the sender's key.
    var verified: [String: VAPIDToken] = [:]
    /// The public key of the sender for whom a subscription is created if its description names no key. It is the key
    /// of the last registered sender or of the issued credential. If it is nil, such a subscription accepts any sender.
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

    /// Registers a sender. Subscriptions that are created later without a key in their description accept only this
    /// sender, even if the configuration accepts any key.
    /// - Parameter app: An object with `publicKey`, the sender's key in base64url.
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
            // If any key is accepted, subscriptions are not bound to this sender, so that any sender can use them.
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

    /// Creates a subscription.
    /// - Parameter description: An object with two optional members. `service` is the vendor of the service, by default
    ///   Mozilla. `publicKey` is the key of the sender for whom the subscription is created.
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

/// The part of a request's path after `WebPushFlavour.pathPrefix`: a subscription's token, and optionally a marker that
/// requests a fault.
struct WebPushSimulatedEndpoint {
    let token: String
    let marker: HandleMarker?

    /// Parses the path of a request.
    ///
    /// Fails if the path cannot be an endpoint of this simulator, or requests an unknown fault.
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
