import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service and the hub that it has issued a credential to.
struct WNSFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let origin = HTTPOrigin(scheme: .https, host: "localhost", port: 8443)

    var simulator: WNSSimulator
    let credential: Credential
    let service: WNS

    init(_ change: (inout WNSSimulator.Configuration) -> Void = { _ in }) throws {
        var configuration = WNSSimulator.Configuration()
        change(&configuration)
        simulator = WNSSimulator(configuration)
        let authority = try CertificateAuthority.generate(commonName: "Test", now: Int(Self.now.seconds))
        credential = try simulator.issueCredential(
            origin: Self.origin, authorityPEM: try authority.identity.certificatePEM())
        service = try WNS(credential: credential)
    }

    /// A service for real channels, with some properties in place of others; nil leaves one out.
    static func service(_ changes: [String: String?] = [:]) throws(PushServiceError) -> WNS {
        let standard: [String: String?] = ["PackageSid": "ms-app://s-1-15-2-1", "SecretKey": "key"]
        return try WNS(credential: Credential(standard.merging(changes) { $1 }.compactMapValues(\.self)))
    }

    mutating func channel() throws -> PushHandle { WNS.handle(from: try simulator.addDevice([:])) }

    /// The token that the simulator gives for what the translator asks with.
    mutating func token(at now: Timestamp = now) throws -> String {
        guard case .exchange(let exchange) = service.authorization(at: now) else { throw Unexpected() }
        let answer = simulator.answer(exchange.request, at: now).response
        guard case .token(let token) = service.token(from: answer, at: now) else { throw Unexpected() }
        return token.value
    }

    /// A request that is accepted, but for what is changed; nil leaves a field out.
    mutating func request(
        _ message: Message = WNSFixture.message(), to handle: PushHandle, _ changes: [String: String?] = [:],
        token: String? = nil
    ) throws -> HTTPRequest {
        let token = if let token { token } else { try self.token() }
        var request = try Self.request(message, to: handle, of: service, token: token)
        for (name, value) in changes { request.fields[name] = value }
        return request
    }

    static func request(
        _ message: Message, to handle: PushHandle, of service: WNS, token: String?
    ) throws -> HTTPRequest {
        let origin = try origin(of: handle, service)
        let service = service.at(origin)
        var batch = RequestBatch(
            try service.shared(message, token: token, expiry: now + .seconds(600), at: now))
        try Array(handle.text.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in
            try service.append(text, id: MessageID(high: 1, low: 2), message: message, to: &batch)
        }
        let body = batch.withBody(0) { Array($0) }
        var fields = batch.shared.fields
        fields["content-length"] = String(body.count)
        return HTTPRequest(
            batch.shared.method, batch.shared.pathPrefix + batch.withPath(0) { String(decoding: $0, as: UTF8.self) },
            authority: origin.authority, fields: fields, body: body)
    }

    static func origin(of handle: PushHandle, _ service: WNS) throws(PushServiceError) -> HTTPOrigin {
        try Array(handle.text.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in
            try service.origin(of: text)
        }
    }

    static func message(
        _ body: String = "<toast><visual><binding><text>hello</text></binding></visual></toast>",
        _ fields: [String: String] = ["x-wns-type": "wns/toast"]
    ) -> Message {
        Message(body: Array(body.utf8), fields: fields)
    }

    struct Unexpected: Error {}
}
