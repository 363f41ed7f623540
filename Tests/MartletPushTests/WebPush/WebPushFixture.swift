import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service and the hub that it has issued a credential to.
struct WebPushFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let origin = HTTPOrigin(scheme: .https, host: "localhost", port: 8443)
    /// The keys of RFC 8291, section 5.
    static let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    var simulator: WebPushSimulator
    let credential: Credential
    let service: WebPush

    init(_ change: (inout WebPushSimulator.Configuration) -> Void = { _ in }) throws {
        var configuration = WebPushSimulator.Configuration()
        change(&configuration)
        simulator = WebPushSimulator(configuration)
        var credential = try simulator.issueCredential(origin: Self.origin, authorityPEM: "")
        credential.properties["EndpointCertificateAuthority"] = nil
        self.credential = credential
        service = try WebPush(credential: credential)
    }

    /// A service whose credential names no hosts.
    static func serviceForAll() throws -> WebPush {
        var credential = try WebPushFixture().credential
        credential.properties["AllowedHosts"] = nil
        return try WebPush(credential: credential)
    }

    mutating func subscribe(_ flavour: WebPushFlavour = .mozilla) throws -> PushHandle {
        WebPush.handle(from: try simulator.addDevice(["service": .string(flavour.rawValue)]))
    }

    /// The requests of one batch, as the network would send them.
    func requests(
        _ message: Message, to handles: [PushHandle], expiry: Timestamp = now + .seconds(600), at now: Timestamp = now
    ) throws -> [HTTPRequest] {
        let service = service.at(Self.origin)
        guard case .token(let token) = try service.authorization(at: now) else { return [] }
        var batch = RequestBatch(try service.shared(message, token: token.value, expiry: expiry, at: now))
        for handle in handles { try Self.append(handle, message, of: service, to: &batch) }
        return (0..<batch.count).map { item in
            HTTPRequest(
                batch.shared.method,
                batch.shared.pathPrefix + batch.withPath(item) { String(decoding: $0, as: UTF8.self) },
                authority: Self.origin.authority, fields: batch.shared.fields, body: batch.withBody(item) { Array($0) },
                connection: HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: true))
        }
    }

    static func origin(of handle: PushHandle, _ service: WebPush) throws(PushServiceError) -> HTTPOrigin {
        try Array(handle.text.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in
            try service.origin(of: text)
        }
    }

    static func append(
        _ handle: PushHandle, _ message: Message, of service: WebPush, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        try Array(handle.text.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in
            try service.append(text, id: MessageID(high: 1, low: 2), message: message, to: &batch)
        }
    }

    /// A request that is accepted, but for what is changed; nil leaves a field out.
    func request(
        _ changes: [String: String?] = [:], to handle: PushHandle, _ method: HTTPMethod = .post, marker: String = "",
        body: [UInt8]? = nil
    ) throws -> HTTPRequest {
        var request = try #require(requests(Self.message(), to: [handle]).first)
        for (name, value) in changes { request.fields[name] = value }
        request.method = method
        request.target += marker
        if let body { request.body = body }
        return request
    }

    static func message(_ text: String = #"{"title":"hello"}"#, _ fields: [String: String] = [:]) -> Message {
        Message(body: Array(text.utf8), fields: fields)
    }

    static func proof(
        audience: HTTPOrigin = origin, subject: String = "mailto:push@example.com", at now: Timestamp = now,
        key: P256PrivateKey, named point: [UInt8]? = nil
    ) throws -> String {
        let token = try VAPIDToken.sign(audience: audience, subject: subject, at: now, with: key)
        return "vapid t=\(token), k=\(Base64URL.encode(point ?? key.publicKey.rawPoint))"
    }

    func key() throws -> P256PrivateKey {
        try P256PrivateKey(rawScalar: #require(Base64URL.decode(credential.properties["VapidPrivateKey"] ?? "")))
    }
}
