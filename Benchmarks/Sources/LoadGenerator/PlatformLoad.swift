import Glibc
import MartletCore
import MartletHTTP
import MartletModel
import MartletNetwork
import Synchronization

/// Pushes by a platform's own translator, which makes the requests and reads the answers as it does for the engine, in
/// batches of a page of 5,000 devices.
struct PlatformLoad: Sendable {
    private static let batchSize = 5000
    /// As many deliveries at once: one waits for its last answers while another sends.
    private static let lanes = 4
    /// All of it that is not sent by then has failed.
    private static let patience: Duration = .seconds(120)

    private let client: HTTPClient
    private let service: any PushService
    private let origin: HTTPOrigin?
    private let shared: RequestBatch.Shared
    private let message: Message
    private let handles: [[UInt8]]
    private let now: Timestamp

    init(client: HTTPClient, _ sample: PlatformSample) throws {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        now = Timestamp(seconds: Int64(time.tv_sec))
        self.client = client
        handles = sample.handles.map { Array($0.text.utf8) }
        let type = type(of: sample.service)
        message = type.normalized(
            try type.message(showing: "A message of usual length for everybody, with a few words more"), at: now)
        try type.check(message)
        origin =
            type.handlesAreAddresses ? try handles[0].withUnsafeBufferPointer(sample.service.origin(of:)) : nil
        service = if let origin { sample.service.at(origin) } else { sample.service }
        let token: String? =
            switch try service.authorization(at: now) {
            case .none: nil
            case .token(let token): token.value
            case .exchange: sample.grantedToken
            }
        shared = try service.shared(message, token: token, expiry: now + .seconds(86_400), at: now)
    }

    /// Makes the connections.
    func warmUp() async {
        let count = Self.lanes * Self.batchSize
        guard await send(count) == count else { LoadGenerator.fail("the first pushes were not accepted") }
    }

    /// - Returns: How many pushes were accepted.
    func send(_ count: Int) async -> Int {
        let batches = count / Self.batchSize
        return await withTaskGroup(of: Int.self, returning: Int.self) { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    var accepted = 0
                    for batch in stride(from: lane, to: batches, by: Self.lanes) {
                        accepted += await send(batch: batch)
                    }
                    return accepted
                }
            }
            return await group.reduce(0, +)
        }
    }

    /// One request as the translator makes it: HTTP's version, path and fields by lines, and the body.
    func request() -> (head: [String], body: [UInt8]) {
        let batch = makeBatch(0, count: 1)
        var head = [shared.settings.version == .http1 ? "http/1.1" : "h2"]
        head.append(shared.pathPrefix + batch.withPath(0) { String(decoding: $0, as: UTF8.self) })
        head += shared.fields.map { "\($0.name): \($0.value)" }
        for (index, name) in shared.itemFieldNames.enumerated() {
            head.append("\(name): " + batch.withValue(index, of: 0) { String(decoding: $0, as: UTF8.self) })
        }
        return (head, batch.withBody(0) { Array($0) })
    }

    private func send(batch number: Int) async -> Int {
        let accepted = Atomic<Int>(0)
        let batch = makeBatch(number, count: Self.batchSize)
        await client.send(batch, before: .now + Self.patience) { [service, now] portion in
            let reported = portion.answers.count { Self.isAccepted($0.result, by: service, at: now) }
            accepted.add(portion.plainSuccesses.count + reported, ordering: .relaxed)
        }
        return accepted.load(ordering: .relaxed)
    }

    private static func isAccepted(
        _ result: Result<HTTPResponse, TransportError>, by service: any PushService, at now: Timestamp
    ) -> Bool {
        guard case .success(let response) = result else { return false }
        return switch service.outcome(of: response, at: now).reaction {
        case .accepted, .update: true
        default: false
        }
    }

    private func makeBatch(_ number: Int, count: Int) -> RequestBatch {
        var batch = RequestBatch(shared, reserving: count, bytesPerItem: shared.body == nil ? 768 : 256)
        for push in number * Self.batchSize..<number * Self.batchSize + count {
            let id = MessageID(high: Digits.mix(UInt64(push)), low: Digits.mix(UInt64(push) << 32))
            handles[push % handles.count].withUnsafeBufferPointer { handle in
                do throws(PushServiceError) {
                    // Devices are sorted by their origins before they are sent to.
                    if let origin, try service.origin(of: handle) != origin {
                        LoadGenerator.fail("a device at another address")
                    }
                    try service.append(handle, id: id, message: message, to: &batch)
                } catch {
                    LoadGenerator.fail("\(error)")
                }
            }
        }
        return batch
    }
}
