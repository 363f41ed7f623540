public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of Firebase Cloud Messaging and its token endpoint as seen by senders, with made-up devices.
public struct FCMSimulator: PushServiceSimulator {
    /// The settings of the simulated service: its limits, and whether it accepts unknown senders.
    public struct Configuration: Sendable {
        /// Whether service accounts that are not registered are accepted without a check, for any project.
        public var acceptsAnyKey = false
        /// The maximum number of messages of one project per minute; nil for no limit.
        public var messagesPerMinute: Int?
        /// The maximum number of messages to one device per minute; nil for no limit.
        public var deviceMessagesPerMinute: Int?

        public init() {}
    }

    /// A service account, which may request tokens.
    struct Account {
        let projectID: String
        let key: RSAPublicKey
    }

    /// The permission that an access token gives, with the time of its expiry.
    struct Grant {
        /// The project for which the token is valid; nil for all projects.
        let projectID: String?
        var expiresAt: Timestamp
    }

    public static let platform = FCM.descriptor.platform

    /// The example project. Issued credentials belong to it, and so do devices whose description names no project.
    static let exampleProject = "example-project"
    static let tokenPath = "/token"
    private static let exampleAccount = "push@example-project.iam.gserviceaccount.com"

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    var configuration: Configuration
    /// The audience that assertions must name: the URL of the token endpoint. Google's own URL is accepted too.
    var audience = FCMCredential.productionTokenEndpoint
    /// The service accounts by email address.
    var accounts: [String: Account] = [:]
    /// The permissions of issued access tokens, by token.
    var grants: [String: Grant] = [:]
    /// The registration tokens of Apple devices.
    var appleDevices: Set<String> = []
    /// The projects that cannot reach Apple devices, because their owners have provided no key for APNs.
    var projectsWithoutApple: Set<String> = []
    var sent: [String: [Timestamp]] = [:]
    private var nextMessage = 1

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(
            request, at: now,
            give: { simulator, grant in simulator.give(grant, lifetime: .integer(Self.lifetime - 1)) },
            take: { simulator, push in simulator.accept(push) })
    }

    mutating func answer(
        _ request: HTTPRequest, at now: Timestamp,
        give: (inout FCMSimulator, Grant) throws(FCMRefusal) -> HTTPResponse,
        take: (inout FCMSimulator, FCMSimulatedPush) throws(FCMRefusal) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        do throws(FCMRefusal) {
            guard !Self.isForToken(request) else {
                return SimulatedAnswer(try give(&self, try judgeAssertion(request, at: now)))
            }
            return try take(&self, try judge(request, at: now))
        } catch {
            return refuse(error)
        }
    }

    mutating func refuse(_ refusal: FCMRefusal) -> SimulatedAnswer {
        count("refused.\(refusal.name)")
        return SimulatedAnswer(refusal.response)
    }

    static func isForToken(_ request: HTTPRequest) -> Bool {
        request.target == tokenPath || request.target.hasPrefix(tokenPath + "?")
    }

    // MARK: Control

    /// Registers a service account.
    /// - Parameter app: An object with `projectId`, `clientEmail` and `publicKey`, the public key of the service
    ///   account as PEM. `reachesApple` is false for a project whose owner has provided no key for Apple devices.
    public mutating func register(app: JSON) throws(SimulatorError) {
        guard let projectID = app["projectId"]?.string, FCMCredential.isProjectID(projectID) else {
            throw SimulatorError("\"projectId\" must be the project's id.")
        }
        guard let email = app["clientEmail"]?.string, !email.isEmpty else {
            throw SimulatorError("\"clientEmail\" must be the service account's address.")
        }
        do throws(CryptoError) {
            accounts[email] = Account(
                projectID: projectID, key: try RSAPublicKey(pem: app["publicKey"]?.string ?? ""))
        } catch {
            throw SimulatorError("\"publicKey\" cannot be used: \(error)")
        }
        if app["reachesApple"] == false {
            projectsWithoutApple.insert(projectID)
        } else {
            projectsWithoutApple.remove(projectID)
        }
    }

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        audience = "\(origin)\(Self.tokenPath)"
        do throws(CryptoError) {
            let key = try RSAPrivateKey.generate()
            // If unregistered accounts are accepted, the example account is not registered, so that it can be used with
            // any key.
            if !configuration.acceptsAnyKey {
                accounts[Self.exampleAccount] = Account(projectID: Self.exampleProject, key: key.publicKey)
            }
            return Credential([
                FCMCredential.Property.projectID: Self.exampleProject,
                FCMCredential.Property.clientEmail: Self.exampleAccount,
                FCMCredential.Property.privateKey: try key.pem(),
                FCMCredential.Property.endpoint: origin.description,
                FCMCredential.Property.tokenEndpoint: audience,
                EndpointAuthority.property: authorityPEM,
            ])
        } catch {
            throw SimulatorError("A credential cannot be made: \(error)")
        }
    }

    /// Creates a device.
    /// - Parameter description: An object with two optional members. `projectId` is by default the example project.
    ///   `system` is `android` (the default) or `ios`.
    /// - Returns: A registration token.
    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let projectID = description["projectId"]?.string ?? Self.exampleProject
        guard FCMCredential.isProjectID(projectID) else {
            throw SimulatorError("\"projectId\" must be the project's id.")
        }
        let system = description["system"]?.string ?? "android"
        guard ["android", "ios"].contains(system) else {
            throw SimulatorError("\"system\" must be \"android\" or \"ios\".")
        }
        let token =
            "\(Base64URL.encode(RandomBytes.generate(16))):APA91b\(Base64URL.encode(RandomBytes.generate(100)))"
        devices.add(token, app: projectID)
        if system == "ios" { appleDevices.insert(token) }
        return token
    }

    // MARK: Answers

    /// The lifetime of an access token, in seconds.
    static let lifetime: Int64 = 3600
    private static let grantLimit = 10_000

    mutating func give(_ grant: Grant, lifetime: JSON) -> HTTPResponse {
        count("tokens")
        if grants.count >= Self.grantLimit { grants = [:] }
        let token = "ya29." + Base64URL.encode(RandomBytes.generate(48))
        grants[token] = grant
        let body: JSON = ["access_token": .string(token), "expires_in": lifetime, "token_type": "Bearer"]
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8"], body: .bytes(body.bytes))
    }

    mutating func accept(_ push: FCMSimulatedPush) -> SimulatedAnswer {
        var id = "fake_message_id"
        var delivered: SimulatedDelivery?
        if !push.isOnlyValidated {
            count("accepted")
            id = "0:\(push.acceptedAt.milliseconds)%\(Hex.encode(Self.bytes(of: nextMessage)))"
            nextMessage += 1
            if let delivery = push.delivery(id: id) {
                let fate = devices.accept(delivery, keepingOlder: { !push.replaces($0) })
                count(fate.rawValue)
                delivered = fate == .delivered ? delivery : nil
            }
        }
        let body: JSON = ["name": .string("projects/\(push.projectID)/messages/\(id)")]
        return SimulatedAnswer(
            HTTPResponse(
                .ok, fields: ["content-type": "application/json; charset=UTF-8"], body: .bytes(body.bytes)),
            delivery: delivered)
    }

    private static func bytes(of number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }
}
