import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A device that the simulator has made up, followed by its event stream.
struct SimulatedPhone {
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

    /// Prints what the phone shows, a line each, until the stream ends.
    func show(_ events: AsyncThrowingStream<[UInt8], any Error>) async throws {
        var line: [UInt8] = []
        for try await piece in events {
            for byte in piece {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                show(line)
                line.removeAll(keepingCapacity: true)
            }
        }
    }

    private func show(_ line: [UInt8]) {
        let prefix = Array("data: ".utf8)
        guard line.starts(with: prefix), let event = try? JSON(parsing: Array(line.dropFirst(prefix.count))),
            let text = event["text"]?.string
        else { return }
        // One line per notification, whatever the text holds.
        Terminal.print(text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: " "))
    }
}
