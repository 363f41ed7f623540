import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service and the hub that it has issued a credential to.
struct ADMFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let origin = HTTPOrigin(scheme: .https, host: "localhost", port: 8443)

    var simulator: ADMSimulator
    let service: ADM

    init(_ change: (inout ADMSimulator.Configuration) -> Void = { _ in }) throws {
        var configuration = ADMSimulator.Configuration()
        change(&configuration)
        simulator = ADMSimulator(configuration)
        service = try ADM(credential: try simulator.issueCredential(origin: Self.origin, authorityPEM: ""))
    }

    /// A service with some properties in place of others; nil leaves one out.
    static func service(_ changes: [String: String?] = [:]) throws(PushServiceError) -> ADM {
        let standard: [String: String?] = ["ClientId": "client", "ClientSecret": "secret"]
        return try ADM(credential: Credential(standard.merging(changes) { $1 }.compactMapValues(\.self)))
    }

    static func exchange(of service: ADM) throws -> TokenExchange {
        guard case .exchange(let exchange) = service.authorization(at: now) else { throw Unexpected() }
        return exchange
    }

    /// The token that the simulator gives for what the translator asks with.
    mutating func token() throws -> String {
        let answer = simulator.answer(try Self.exchange(of: service).request, at: Self.now).response
        guard case .token(let token) = service.token(from: answer, at: Self.now) else { throw Unexpected() }
        return token.value
    }

    /// A request that is accepted, but for what is changed; nil leaves a field out.
    mutating func request(
        _ body: String = #"{"data":{"message":"hello"}}"#, to handle: String, _ changes: [String: String?] = [:]
    ) throws -> HTTPRequest {
        var request = Self.request(Message(body: Array(body.utf8)), to: handle, of: service, token: try token())
        for (name, value) in changes { request.fields[name] = value }
        return request
    }

    static func request(_ message: Message, to handle: String, of service: ADM, token: String?) -> HTTPRequest {
        var batch = RequestBatch(service.shared(message, token: token, expiry: now + .seconds(600), at: now))
        Array(handle.utf8).withUnsafeBufferPointer {
            service.append($0, id: MessageID(high: 1, low: 2), message: message, to: &batch)
        }
        return HTTPRequest(
            batch.shared.method, batch.shared.pathPrefix + batch.withPath(0) { String(decoding: $0, as: UTF8.self) },
            authority: batch.shared.origin.authority, fields: batch.shared.fields, body: batch.withBody(0) { Array($0) }
        )
    }

    struct Unexpected: Error {}
}
