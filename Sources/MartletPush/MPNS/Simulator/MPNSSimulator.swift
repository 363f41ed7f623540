public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of the Microsoft Push Notification Service as seen by senders, with made-up channels. In the simulator,
/// all channels use https, even the channels that need no certificate.
public struct MPNSSimulator: PushServiceSimulator {
    /// The settings of the simulated service: its limits, and whether it accepts unknown senders.
    public struct Configuration: Sendable {
        /// Whether a sender may use a channel without the certificate with which the channel was opened.
        public var acceptsAnyKey = false
        /// The maximum size of the body of a tile or toast, in bytes. Sources about the real service disagree
        /// (PushServices.md, section 4.2).
        public var bodyLimit = 3072
        /// The maximum size of the body of a raw notification, in bytes.
        public var rawBodyLimit = 1024
        /// The maximum number of messages per day to a channel without a certificate.
        public var dailyLimit = 500

        public init() {}
    }

    /// The prefixes of a channel's path: `open` for channels without a certificate, `authenticated` for channels with
    /// one.
    enum ChannelPath {
        static let open = "/throttledthirdparty/01.00/"
        static let authenticated = "/unthrottledthirdparty/01.00/"
    }

    /// The value of `SimulatedDevices.Device.app` for a channel that needs no certificate.
    static let anybody = ""

    public static let platform = MPNS.descriptor.platform

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    /// The origin of the channel URIs.
    var origin = HTTPOrigin(scheme: .https, host: "localhost")
    /// For each channel, the last day on which it received messages, and the number of messages on that day. Days are
    /// counted from 1970 in UTC.
    var days: [String: (day: Int64, count: Int)] = [:]
    private var nextMessage = 1

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(request, at: now) { simulator, push in simulator.accept(push) }
    }

    mutating func answer(
        _ request: HTTPRequest, at now: Timestamp, _ take: (inout MPNSSimulator, MPNSSimulatedPush) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        do throws(MPNSRefusal) {
            return take(&self, try judge(request, at: now))
        } catch {
            return refuse(error, handle: handle(of: request), id: request.fields["x-messageid"])
        }
    }

    mutating func refuse(
        _ refusal: MPNSRefusal, handle: String, id: String?, retryAfter: String? = nil
    ) -> SimulatedAnswer {
        count("refused.\(refusal.rawValue)")
        var response = refusal.response(isListening: isListening(handle), retryAfter: retryAfter)
        response.fields["x-messageid"] = id
        return SimulatedAnswer(response)
    }

    /// Does nothing, because no app needs to be registered. The simulator believes the name in any certificate.
    public mutating func register(app: JSON) throws(SimulatorError) {}

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        self.origin = origin
        do throws(CryptoError) {
            // The certificate's issuer is an authority that nobody trusts. This is enough here, because the simulator
            // checks only the name in a certificate. The real service also checks the issuer.
            let authority = try CertificateAuthority.generate(commonName: "Senders", now: 86_400, days: 36_500)
            let identity = try authority.issue(
                CertificateRequest(commonName: Self.exampleService, hosts: []), now: 86_400, days: 36_500)
            return Credential([
                MPNSCredential.Property.certificate: try identity.certificatePEM() + identity.privateKeyPEM(),
                EndpointAuthority.property: authorityPEM,
            ])
        } catch {
            throw SimulatorError("A credential cannot be made: \(error)")
        }
    }

    /// The name in the certificates of issued credentials.
    static let exampleService = "push.example.com"

    /// Creates a channel.
    /// - Parameter description: An object. Its optional member `serviceName` is the name in the certificate with which
    ///   the channel was opened. Without this member, the channel needs no certificate.
    /// - Returns: A channel URI.
    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let name = description["serviceName"]?.string
        let path = name == nil ? ChannelPath.open : ChannelPath.authenticated
        let handle = "\(origin)\(path)\(Base64URL.encode(RandomBytes.generate(32)))"
        devices.add(handle, app: name ?? Self.anybody)
        return handle
    }

    mutating func accept(_ push: MPNSSimulatedPush) -> SimulatedAnswer {
        count("accepted")
        let id = String(nextMessage)
        nextMessage += 1
        let isListening = isListening(push.handle)
        let delivery = push.delivery(id: id)
        let fate = devices.accept(delivery, keepingOlder: { !push.replaces($0) })
        count(fate.rawValue)
        var response = HTTPResponse(
            .ok,
            fields: [
                "x-notificationstatus": "Received", "x-subscriptionstatus": "Active",
                "x-deviceconnectionstatus": isListening ? "Connected" : "Temp Disconnected",
            ])
        response.fields["x-messageid"] = push.messageID
        return SimulatedAnswer(response, delivery: fate == .delivered ? delivery : nil)
    }

    func handle(of request: HTTPRequest) -> String { "\(origin)\(request.target)" }

    private func isListening(_ handle: String) -> Bool { devices[handle].map { $0.listeners > 0 } ?? false }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }
}
