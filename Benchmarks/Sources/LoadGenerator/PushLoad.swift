import MartletHTTP
import MartletNetwork
import Synchronization

/// Pushes in batches of 5,000 as the dispatcher sends them: each device with its own token and `apns-id`, a batch made
/// while others are on their way.
struct PushLoad: Sendable {
    private static let batchSize = 5000
    /// As many as the hub makes to APNs.
    private static let connectionLimit = 64

    private let client: HTTPClient
    private let lanes: Int
    private let requests: RequestBatch.Shared
    /// Tokens one behind the other, as a page of an audience brings them.
    private let tokens: [UInt8]

    private static let deviceCount = 100_000
    private static let tokenLength = 64

    /// - Parameters:
    ///   - authority: What to trust, as PEM text.
    ///   - token: The bearer token, a literal in every request.
    ///   - lanes: As many deliveries at once: one waits for its last answers while another sends.
    init(client: HTTPClient, port: UInt16, authority: String, token: String, payload: [UInt8], lanes: Int) {
        self.client = client
        self.lanes = lanes
        tokens = (0..<UInt64(Self.deviceCount)).flatMap { device in
            var token: [UInt8] = []
            Digits.appendToken(device, to: &token)
            return token
        }
        var fields: HTTPFields = [
            "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
        ]
        fields.append(HTTPField("authorization", "bearer \(token)", indexing: .never))
        fields.append(HTTPField("apns-expiration", "1893456000", indexing: .never))
        requests = RequestBatch.Shared(
            origin: HTTPOrigin(scheme: .https, host: "127.0.0.1", port: port),
            settings: TransportSettings(
                version: .http2, trustedCertificatesPEM: authority, connectionLimit: Self.connectionLimit),
            pathPrefix: "/3/device/", fields: fields, itemFieldNames: ["apns-id"], body: payload)
    }

    /// Makes the connections.
    func warmUp() async {
        let count = 2 * lanes * Self.batchSize
        guard await send(count) == count else { LoadGenerator.fail("the first pushes were not accepted") }
    }

    /// - Returns: How many pushes were accepted.
    func send(_ count: Int) async -> Int {
        let batches = count / Self.batchSize
        return await withTaskGroup(of: Int.self, returning: Int.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var accepted = 0
                    for batch in stride(from: lane, to: batches, by: lanes) {
                        accepted += await send(batch: batch)
                    }
                    return accepted
                }
            }
            return await group.reduce(0, +)
        }
    }

    private func send(batch number: Int) async -> Int {
        let accepted = Atomic<Int>(0)
        await client.send(makeBatch(number), before: .now + .seconds(30)) { portion in
            accepted.add(portion.plainSuccesses.count, ordering: .relaxed)
        }
        return accepted.load(ordering: .relaxed)
    }

    private func makeBatch(_ number: Int) -> RequestBatch {
        var batch = RequestBatch(requests, reserving: Self.batchSize)
        for push in number * Self.batchSize..<(number + 1) * Self.batchSize {
            let start = push % Self.deviceCount * Self.tokenLength
            batch.append { writer in
                writer.part { $0.append(contentsOf: tokens[start..<start + Self.tokenLength]) }
                writer.part { Digits.appendUUID(Digits.mix(UInt64(push)), to: &$0) }
            }
        }
        return batch
    }
}
