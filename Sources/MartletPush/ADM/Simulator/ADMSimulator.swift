public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of Amazon Device Messaging and its token endpoint as seen by senders, with made-up devices.
public struct ADMSimulator: PushServiceSimulator {
    /// The settings of the simulated service: its limits, and whether it accepts unknown senders.
    public struct Configuration: Sendable {
        /// Whether clients that are not registered get tokens without a check of their secret.
        public var acceptsAnyKey = false
        /// The lifetime of an access token.
        public var tokenLifetime: Duration = .seconds(3600)
        /// The maximum number of messages of one app per second; nil for no limit.
        public var pushesPerSecond: Int?

        public init() {}
    }

    public static let platform = ADM.descriptor.platform
    static let tokenPath = "/auth/O2/token"
    static let sendPath = (prefix: "/messaging/registrations/", suffix: "/messages")

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    var tokens: SimulatedTokens
    /// The new registration id of each device whose id was replaced, keyed by the old id. The old id keeps working.
    var replacements: [String: String] = [:]
    var recentPushes: [String: [Timestamp]] = [:]
    private var nextMessage = 1

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        tokens = SimulatedTokens(
            acceptsAnyClient: configuration.acceptsAnyKey, lifetime: configuration.tokenLifetime, prefix: "Atc|")
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(request, tokenFault: nil, at: now) { simulator, push in simulator.accept(push) }
    }

    mutating func answer(
        _ request: HTTPRequest, tokenFault: ServiceFault?, at now: Timestamp,
        _ take: (inout ADMSimulator, ADMSimulatedPush) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        if request.target == Self.tokenPath {
            let response = tokens.answer(request, scope: ADM.scope, fault: tokenFault, at: now)
            count("tokens.\(response.status.code)")
            return SimulatedAnswer(response)
        }
        do throws(ADMRefusal) {
            return take(&self, try judge(request, at: now))
        } catch {
            return refuse(error)
        }
    }

    mutating func refuse(_ refusal: ADMRefusal) -> SimulatedAnswer {
        count("refused.\(refusal.name)")
        return SimulatedAnswer(refusal.response(request: Self.makeID()))
    }

    /// Registers an app.
    /// - Parameter app: An object with the members `clientId` and `secret`.
    public mutating func register(app: JSON) throws(SimulatorError) {
        guard let client = app["clientId"]?.string, !client.isEmpty, let secret = app["secret"]?.string else {
            throw SimulatorError("\"clientId\" and \"secret\" must be texts.")
        }
        tokens.register(client, secret: secret)
    }

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        let secret = Hex.encode(RandomBytes.generate(32))
        tokens.register(Self.exampleClient, secret: secret)
        return Credential([
            ADMCredential.Property.clientID: Self.exampleClient,
            ADMCredential.Property.clientSecret: secret,
            ADMCredential.Property.tokenEndpoint: "\(origin)\(Self.tokenPath)",
            ADMCredential.Property.sendURL: "\(origin)\(Self.sendPath.prefix){0}\(Self.sendPath.suffix)",
            EndpointAuthority.property: authorityPEM,
        ])
    }

    /// The example app. Issued credentials belong to it, and so do devices whose description names no app.
    static let exampleClient = "amzn1.application-oa2-client.00000000000000000000000000000001"

    /// Creates a device.
    /// - Parameter description: An object. Its optional member `app` is the client id of the device's app. Without this
    ///   member, the device belongs to the example app.
    /// - Returns: A registration id.
    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let app = description["app"]?.string ?? Self.exampleClient
        guard tokens.knows(app) else { throw SimulatorError("\"app\" must be a client that is registered.") }
        let handle = Self.makeHandle()
        devices.add(handle, app: app)
        return handle
    }

    /// Replaces a registration id by a new id. Messages to the old id still reach the device. An id that was already
    /// replaced is not replaced again.
    mutating func replace(_ handle: String) {
        guard replacements[handle] == nil, let device = devices[handle] else { return }
        let new = Self.makeHandle()
        devices.add(new, app: device.app)
        replacements[handle] = new
    }

    mutating func accept(_ push: ADMSimulatedPush) -> SimulatedAnswer {
        count("accepted")
        let id = String(nextMessage)
        nextMessage += 1
        let handle = replacements[push.handle] ?? push.handle
        let delivery = push.delivery(id: id, to: handle)
        let fate = devices.accept(delivery, keepingOlder: { !push.replaces($0) })
        count(fate.rawValue)
        let request = Self.makeID()
        let body: JSON = ["registrationID": .string(handle), "requestID": .string(request)]
        return SimulatedAnswer(
            HTTPResponse(
                .ok, fields: ["content-type": "application/json", "x-amzn-requestid": request],
                body: .bytes(body.bytes)), delivery: fate == .delivered ? delivery : nil)
    }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }

    private static func makeHandle() -> String {
        "amzn1.adm-registration.v3.\(Base64URL.encode(RandomBytes.generate(48)))"
    }

    private static func makeID() -> String { Hex.encode(RandomBytes.generate(16)) }
}
