import MartletHTTP
import MartletNetwork
import Synchronization

/// Registers devices of Apple's platform in a hub, all with tag `a` and every tenth with tag `b`.
struct RegistrationLoad: Sendable {
    private let client: HTTPClient
    private let requests: RequestBatch.Shared

    init(client: HTTPClient, port: UInt16, hub: String, authorization: String) {
        self.client = client
        var fields: HTTPFields = ["content-type": "application/atom+xml;type=entry;charset=utf-8"]
        fields.append(HTTPField("authorization", authorization, indexing: .never))
        requests = RequestBatch.Shared(
            origin: HTTPOrigin(scheme: .http, host: "127.0.0.1", port: port),
            settings: TransportSettings(version: .http2),
            pathPrefix: "/\(hub)/registrations?api-version=2020-06", fields: fields)
    }

    /// - Returns: How many registrations the hub has answered with success.
    func register(_ count: Int) async -> Int {
        var batch = RequestBatch(requests, reserving: count, bytesPerItem: 512)
        for device in 0..<count {
            batch.append(path: [], body: Array(Self.entry(device).utf8))
        }
        let registered = Atomic<Int>(0)
        await client.send(batch, before: .now + .seconds(300)) { portion in
            let answered = portion.answers.count { (try? $0.result.get())?.status.isSuccess ?? false }
            registered.add(portion.plainSuccesses.count + answered, ordering: .relaxed)
        }
        return registered.load(ordering: .relaxed)
    }

    private static func entry(_ device: Int) -> String {
        var token: [UInt8] = []
        Digits.appendToken(UInt64(device), to: &token)
        return """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
            <Tags>\(device % 10 == 0 ? "a,b" : "a")</Tags>\
            <DeviceToken>\(String(decoding: token, as: UTF8.self))</DeviceToken>\
            </AppleRegistrationDescription></content></entry>
            """
    }
}
