import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service and the hub that it has issued a credential to.
struct MPNSFixture {
    static let now = Timestamp(seconds: 1_700_000_000)
    static let origin = HTTPOrigin(scheme: .https, host: "localhost", port: 8443)
    static let toast =
        #"<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast>"#
        + "<wp:Text1>hello</wp:Text1><wp:Text2>you</wp:Text2></wp:Toast></wp:Notification>"
    static let tile =
        #"<wp:Notification xmlns:wp="WPNotification"><wp:Tile Id="1"><wp:Title>news</wp:Title></wp:Tile></wp:Notification>"#

    var simulator: MPNSSimulator
    let service: MPNS
    /// The certificate that the service knows the hub by.
    let identity: CertificateIdentity

    init(_ change: (inout MPNSSimulator.Configuration) -> Void = { _ in }) throws {
        var configuration = MPNSSimulator.Configuration()
        change(&configuration)
        simulator = MPNSSimulator(configuration)
        let authority = try CertificateAuthority.generate(commonName: "Test", now: Int(Self.now.seconds))
        let credential = try simulator.issueCredential(
            origin: Self.origin, authorityPEM: try authority.identity.certificatePEM())
        service = try MPNS(credential: credential)
        identity = try CertificateIdentity(pem: credential.properties["MpnsCertificate"] ?? "")
    }

    /// A request that is accepted, but for what is changed; nil leaves a field out.
    func request(
        _ body: String = MPNSFixture.toast, to handle: String, _ changes: [String: String?] = [:],
        certificate: CertificateIdentity? = nil
    ) throws -> HTTPRequest {
        let message = MPNS.normalized(Message(body: Array(body.utf8)), at: Self.now)
        var request = try Self.request(message, to: handle, of: service)
        for (name, value) in changes { request.fields[name] = value }
        request.connection = HTTPConnection(
            id: 1, peer: "127.0.0.1", isSecure: true, peerCertificate: certificate?.certificate.der)
        return request
    }

    static func request(_ message: Message, to handle: String, of service: MPNS) throws -> HTTPRequest {
        let origin = try origin(of: handle, service)
        let service = service.at(origin)
        var batch = RequestBatch(try service.shared(message, token: nil, expiry: now + .seconds(600), at: now))
        try Array(handle.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in
            try service.append(text, id: MessageID(high: 1, low: 2), message: message, to: &batch)
        }
        var fields = batch.shared.fields
        fields["x-messageid"] = batch.withValue(0, of: 0) { String(decoding: $0, as: UTF8.self) }
        return HTTPRequest(
            batch.shared.method, batch.shared.pathPrefix + batch.withPath(0) { String(decoding: $0, as: UTF8.self) },
            authority: origin.authority, fields: fields, body: batch.withBody(0) { Array($0) })
    }

    static func origin(of handle: String, _ service: MPNS) throws(PushServiceError) -> HTTPOrigin {
        try Array(handle.utf8).withUnsafeBufferPointer { text throws(PushServiceError) in try service.origin(of: text) }
    }
}
