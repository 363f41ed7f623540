import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A device that the simulator has made up, followed by its event stream.
struct SimulatedPhone {
    /// What came to the phone.
    struct Delivery {
        /// The body of the push, as the platform hands it to an app.
        let payload: [UInt8]
        /// What the phone shows by itself; nil for what is for the app alone.
        let text: String?
    }

    private static let timeout: Duration = .seconds(30)

    let simulator: SimulatorConnection

    /// Asks for what a phone's system gives its apps at every launch.
    func obtainHandle(platform: String) async throws -> String {
        let description: JSON = ["platform": .string(platform)]
        let device = try await simulator.call(.post, "/simulator/devices", description, expecting: .created)
        guard let handle = device["handle"]?.string else { throw ServerError("The simulator gave no handle.") }
        return handle
    }

    /// Begins to listen; nothing that is sent from now on is missed.
    func follow(_ handle: String) async throws -> AsyncThrowingStream<[UInt8], any Error> {
        let request = HTTPRequest(
            .get, "/simulator/device/events?handle=\(segment(handle))", authority: simulator.origin.authority)
        let (head, body) = try await simulator.client.stream(
            request, to: simulator.origin, settings: simulator.settings, before: .now + Self.timeout)
        guard head.status == .ok else { throw ServerError("The simulator answered \(head.status.code).") }
        return body
    }

    /// Hands on what comes to the phone, one after the other, until the stream ends.
    func forEachDelivery(
        of events: AsyncThrowingStream<[UInt8], any Error>, _ take: (Delivery) async -> Void
    ) async throws {
        var line: [UInt8] = []
        for try await piece in events {
            for byte in piece {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                if let delivery = Delivery(line) { await take(delivery) }
                line.removeAll(keepingCapacity: true)
            }
        }
    }
}

extension SimulatedPhone.Delivery {
    /// Reads a line of the event stream; nil for those that bring nothing.
    init?(_ line: [UInt8]) {
        let prefix = Array("data: ".utf8)
        guard line.starts(with: prefix), let event = try? JSON(parsing: Array(line.dropFirst(prefix.count))),
            let payload = event["payload"]
        else { return nil }
        // Bodies that are no JSON to their platform are told as texts.
        self.payload = payload.string.map { Array($0.utf8) } ?? payload.bytes
        text = event["text"]?.string
    }
}
