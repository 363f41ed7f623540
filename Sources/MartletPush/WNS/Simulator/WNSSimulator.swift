public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of Windows Push Notification Services and of its two token endpoints as seen by senders, with made-up
/// channels.
public struct WNSSimulator: PushServiceSimulator {
    /// The settings of the simulated service: its limits, and whether it accepts unknown senders.
    public struct Configuration: Sendable {
        /// Whether clients that are not registered get tokens without a check of their secret.
        public var acceptsAnyKey = false
        /// The lifetime of an access token.
        public var tokenLifetime: Duration = .seconds(86_400)
        /// The maximum number of pushes of one app per second; nil for no limit.
        public var pushesPerSecond: Int?
        /// The maximum number of pushes to one channel per second; nil for no limit.
        public var pushesPerSecondAndChannel: Int?

        public init() {}
    }

    public static let platform = WNS.descriptor.platform

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    /// The origin of the channel URIs.
    var origin = HTTPOrigin(scheme: .https, host: "localhost")
    var tokens: SimulatedTokens
    /// The apps that the service has blocked.
    var blocked: Set<String> = []
    var recentPushes: [String: [Timestamp]] = [:]
    private var nextMessage = 1

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        tokens = SimulatedTokens(
            acceptsAnyClient: configuration.acceptsAnyKey, lifetime: configuration.tokenLifetime, prefix: "EwBA")
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(request, tokenFault: nil, at: now) { simulator, push in simulator.accept(push) }
    }

    mutating func answer(
        _ request: HTTPRequest, tokenFault: ServiceFault?, at now: Timestamp,
        _ take: (inout WNSSimulator, WNSSimulatedPush) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        if let endpoint = WNSTokenEndpoint(request.target) {
            let response = tokens.answer(
                request, scope: endpoint.scope, fault: tokenFault, isTextual: endpoint.isTextual, at: now)
            count("tokens.\(response.status.code)")
            return SimulatedAnswer(response)
        }
        do throws(WNSRefusalAnswer) {
            return take(&self, try judge(request, at: now))
        } catch {
            return refuse(error)
        }
    }

    mutating func refuse(_ answer: WNSRefusalAnswer) -> SimulatedAnswer {
        count("refused.\(answer.refusal.rawValue)")
        return SimulatedAnswer(answer.refusal.response(answer.description, retryAfter: answer.retryAfter))
    }

    /// Registers an app.
    /// - Parameter app: An object with `clientId` and `secret`. The optional member `isBlocked` is true for an app that
    ///   the service has blocked.
    public mutating func register(app: JSON) throws(SimulatorError) {
        guard let client = app["clientId"]?.string, !client.isEmpty, let secret = app["secret"]?.string else {
            throw SimulatorError("\"clientId\" and \"secret\" must be texts.")
        }
        tokens.register(client, secret: secret)
        if app["isBlocked"]?.bool == true { blocked.insert(client) } else { blocked.remove(client) }
    }

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        self.origin = origin
        let secret = Base64URL.encode(RandomBytes.generate(24))
        tokens.register(Self.exampleClient, secret: secret)
        return Credential([
            WNSCredential.Property.packageSID: Self.exampleClient,
            WNSCredential.Property.secretKey: secret,
            WNSCredential.Property.tokenEndpoint: "\(origin)\(WNSTokenEndpoint.livePath)",
            EndpointAuthority.property: authorityPEM,
        ])
    }

    /// The example app. Issued credentials belong to it, and so do devices whose description names no app.
    static let exampleClient = "ms-app://S-1-15-2-1-2-3-4-5-6-7"

    /// Creates a channel.
    /// - Parameter description: An object. Its optional member `app` is the client id of the app that has the channel.
    ///   Without this member, the channel belongs to the example app.
    /// - Returns: A channel URI.
    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let app = description["app"]?.string ?? Self.exampleClient
        guard tokens.knows(app) else { throw SimulatorError("\"app\" must be a client that is registered.") }
        let handle = "\(origin)\(WNSChannelPath.prefix)\(Base64URL.encode(RandomBytes.generate(48)))"
        devices.add(handle, app: app)
        return handle
    }

    mutating func accept(_ push: WNSSimulatedPush) -> SimulatedAnswer {
        count("accepted")
        let id = String(nextMessage, radix: 16, uppercase: true)
        nextMessage += 1
        let isConnected = devices[push.handle].map { $0.listeners > 0 } ?? false
        let delivery = push.delivery(id: id)
        let fate = devices.accept(delivery, keepingOlder: { !push.replaces($0) })
        count(fate.rawValue)
        if push.type != WNS.rawType, push.markup == nil { count("unreadable") }
        var fields: HTTPFields = [
            "x-wns-status": fate == .discarded ? "dropped" : "received", "x-wns-msg-id": id,
            "x-wns-debug-trace": "SIM\(id)",
        ]
        if push.wantsStatus { fields["x-wns-deviceconnectionstatus"] = isConnected ? "connected" : "disconnected" }
        return SimulatedAnswer(
            HTTPResponse(.ok, fields: fields), delivery: fate == .delivered ? delivery : nil)
    }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }
}

/// One of the two token endpoints, determined by the path (PushServices.md, section 3.1).
struct WNSTokenEndpoint {
    static let livePath = "/accesstoken.srf"
    static let directorySuffix = "/oauth2/v2.0/token"

    let scope: String
    /// Whether the endpoint writes the lifetime of a token as text. Only the endpoint of a directory does this.
    let isTextual: Bool

    init?(_ target: String) {
        let path = target.prefix { $0 != "?" }
        if path == Self.livePath {
            (scope, isTextual) = (WNSCredential.liveScope, false)
        } else if path.hasSuffix(Self.directorySuffix) {
            (scope, isTextual) = (WNSCredential.directoryScope, true)
        } else {
            return nil
        }
    }
}

/// The path of every channel of the simulator. It consists of a prefix and the channel's token.
enum WNSChannelPath {
    static let prefix = "/?token="
}
