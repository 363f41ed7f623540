import Foundation
import MartletHTTP
import MartletModel
import MartletNetwork

/// A phone of the simulator that a `RunningServer` has started, and what is sent to it.
struct SimulatedDevice {
    struct NoPush: Error {}

    let handle: String
    /// Kept, because its connections end with it.
    private let client: HTTPClient
    private let events: AsyncThrowingStream<[UInt8], any Error>

    init(on server: RunningServer, platform: String) async throws {
        let parts = server.readyLine.split(separator: " ")
        guard let text = parts.first(where: { $0.hasPrefix("simulator=") })?.dropFirst("simulator=".count),
            let origin = HTTPOrigin(String(text))
        else { throw NoPush() }
        let authority = server.dataDirectory.appendingPathComponent("simulator-ca.pem")
        let settings = TransportSettings(
            trustedCertificatesPEM: try String(contentsOf: authority, encoding: .utf8))
        client = HTTPClient(loops: try EventLoopGroup(count: 1))
        let made = try await client.send(
            HTTPRequest(
                .post, "/simulator/devices", authority: origin.authority, fields: ["content-type": "application/json"],
                body: JSON.object(["platform": .string(platform)]).bytes),
            to: origin, settings: settings, before: .now + .seconds(120))
        guard let handle = try JSON(parsing: made.bytes)["handle"]?.string,
            let name = handle.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        else { throw NoPush() }
        self.handle = handle
        events = try await client.stream(
            HTTPRequest(.get, "/simulator/device/events?handle=\(name)", authority: origin.authority), to: origin,
            settings: settings, before: .now + .seconds(120)
        ).body
    }

    /// The payloads of the next pushes, as the platform hands them to an app.
    func pushes(_ count: Int) async throws -> [[UInt8]] {
        var pushes: [[UInt8]] = []
        var line: [UInt8] = []
        for try await piece in events {
            for byte in piece {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                if let payload = Self.payload(line) { pushes.append(payload) }
                line = []
            }
            if pushes.count >= count { return pushes }
        }
        throw NoPush()
    }

    private static func payload(_ line: [UInt8]) -> [UInt8]? {
        let prefix = Array("data: ".utf8)
        guard line.starts(with: prefix) else { return nil }
        let payload = (try? JSON(parsing: Array(line.dropFirst(prefix.count))))?["payload"]
        return payload?.string.map { Array($0.utf8) } ?? payload?.bytes
    }
}
