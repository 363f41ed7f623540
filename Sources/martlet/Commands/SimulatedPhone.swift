import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A device that the simulator has made up, followed by its event stream.
struct SimulatedPhone {
    private static let timeout: Duration = .seconds(30)

    let client: HTTPClient
    private let origin: HTTPOrigin
    private let settings: TransportSettings

    init(_ invocation: Invocation) throws {
        origin = try invocation.required("simulator", as: "https://HOST:PORT") { text in
            HTTPOrigin(text).flatMap { $0.scheme == .https ? $0 : nil }
        }
        let pem: String?
        if let file = invocation["simulator-ca-file"] {
            pem = try TextFile.readText(file)
        } else {
            pem = try SimulatorAuthority.find(port: origin.port)
        }
        settings = TransportSettings(trustedCertificatesPEM: pem)
        client = HTTPClient(loops: try EventLoopGroup(count: 1))
    }

    /// Asks for what a phone's system gives its apps at every launch.
    func obtainHandle(platform: String) async throws -> String {
        let request = HTTPRequest(
            .post, "/simulator/devices", authority: origin.authority, fields: ["content-type": "application/json"],
            body: JSON.object(["platform": .string(platform)]).bytes)
        let response = try await client.call(request, to: origin, settings)
        let answer = try JSON(parsing: response.bytes)
        guard response.status == .created, let handle = answer["handle"]?.string else {
            throw ServerError(answer["error"]?.string ?? "The simulator answered \(response.status.code).")
        }
        return handle
    }

    /// Begins to listen; nothing that is sent from now on is missed.
    func follow(_ handle: String) async throws -> AsyncThrowingStream<[UInt8], any Error> {
        let request = HTTPRequest(
            .get, "/simulator/device/events?handle=\(segment(handle))", authority: origin.authority)
        let (head, body) = try await client.stream(
            request, to: origin, settings: settings, before: .now + Self.timeout)
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
