import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A simulated device. It receives its notifications through the simulator's event stream.
struct SimulatedPhone {
    /// A notification that the phone received.
    struct Delivery {
        /// The body of the push, as the platform passes it to an app.
        let payload: [UInt8]
        /// The text that the phone shows by itself; nil if the push is only for the app.
        let text: String?
    }

    private static let timeout: Duration = .seconds(30)

    let simulator: SimulatorConnection

    /// Requests a handle, as an app does from its phone's system at every launch.
    func obtainHandle(platform: String) async throws -> String {
        let description: JSON = ["platform": .string(platform)]
        let device = try await simulator.call(.post, "/simulator/devices", description, expecting: .created)
        guard let handle = device["handle"]?.string else { throw ServerError("The simulator gave no handle.") }
        return handle
    }

    /// Begins to listen to the event stream. No notification that is sent after this call has returned is missed.
    func follow(_ handle: String) async throws -> AsyncThrowingStream<[UInt8], any Error> {
        let request = HTTPRequest(
            .get, "/simulator/device/events?handle=\(segment(handle))", authority: simulator.origin.authority)
        let (head, body) = try await simulator.client.stream(
            request, to: simulator.origin, settings: simulator.settings, before: .now + Self.timeout)
        guard head.status == .ok else { throw ServerError("The simulator answered \(head.status.code).") }
        return body
    }

    /// Passes the phone's notifications to a closure, one after the other, until the stream ends.
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
    /// Reads a line of the event stream; nil if the line contains no notification.
    init?(_ line: [UInt8]) {
        let prefix = Array("data: ".utf8)
        guard line.starts(with: prefix), let event = try? JSON(parsing: Array(line.dropFirst(prefix.count))),
            let payload = event["payload"]
        else { return nil }
        // The simulator reports a body that is not JSON on its platform as a string. So a string stands for the bytes
        // of the body itself.
        self.payload = payload.string.map { Array($0.utf8) } ?? payload.bytes
        text = event["text"]?.string
    }
}
