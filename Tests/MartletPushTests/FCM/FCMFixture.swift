import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service and the hub that it has issued a credential to.
struct FCMFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let origin = HTTPOrigin(scheme: .https, host: "localhost", port: 8443)

    var simulator: FCMSimulator
    let credential: Credential
    let service: FCM

    /// Making a key takes long, and one does for all tests.
    private static let issued = Result {
        var simulator = FCMSimulator()
        let credential = try simulator.issueCredential(origin: origin, authorityPEM: "")
        return (simulator, credential)
    }

    init(_ change: (inout FCMSimulator.Configuration) -> Void = { _ in }) throws {
        (simulator, credential) = try Self.issued.get()
        change(&simulator.configuration)
        service = try FCM(credential: credential)
    }

    static func message(_ text: String) -> Message { Message(body: Array(text.utf8)) }

    /// The request for an access token, as the network would send it.
    func exchange(of service: (any PushService)? = nil, at now: Timestamp = now) throws -> HTTPRequest {
        guard case .exchange(let exchange) = try (service ?? self.service).authorization(at: now) else {
            throw PushServiceError(.badCredential, "A token is exchanged.")
        }
        #expect(exchange.origin == Self.origin)
        return exchange.request
    }

    mutating func accessToken(at now: Timestamp = now) throws -> AuthorizationToken {
        let response = simulator.answer(try exchange(at: now), at: now).response
        guard case .token(let token) = service.token(from: response, at: now) else {
            throw PushServiceError(
                .badCredential, "A token is given: \(String(decoding: response.bytes, as: UTF8.self))")
        }
        return token
    }

    /// The requests of one batch, as the network would send them.
    func requests(
        _ message: Message, to handles: [String], token: String?, of service: (any PushService)? = nil
    ) throws -> [HTTPRequest] {
        let service = service ?? self.service
        let message = type(of: service).normalized(message, at: Self.now)
        var batch = RequestBatch(
            try service.shared(message, token: token, expiry: Self.now + .seconds(600), at: Self.now))
        for handle in handles {
            try Array(handle.utf8).withUnsafeBufferPointer { text in
                try service.append(text, id: MessageID(high: 1, low: 2), message: message, to: &batch)
            }
        }
        return (0..<batch.count).map { item in
            HTTPRequest(
                batch.shared.method,
                batch.shared.pathPrefix + batch.withPath(item) { String(decoding: $0, as: UTF8.self) },
                authority: Self.origin.authority, fields: batch.shared.fields, body: batch.withBody(item) { Array($0) })
        }
    }

    /// Sends a body as it is and tells the answer.
    mutating func answer(
        _ body: String, project: String = "example-project", token: String? = nil, fault: ServiceFault? = nil,
        at now: Timestamp = now
    ) throws -> HTTPResponse {
        let token = try token ?? accessToken(at: now).value
        let request = HTTPRequest(
            .post, "/v1/projects/\(project)/messages:send", fields: ["authorization": "Bearer \(token)"],
            body: Array(body.utf8))
        guard let fault else { return simulator.answer(request, at: now).response }
        return simulator.answer(request, fault: fault, at: now).response
    }

    mutating func device(_ description: JSON = [:]) throws -> String { try simulator.addDevice(description) }
}
