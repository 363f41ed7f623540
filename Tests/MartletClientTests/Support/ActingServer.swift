import MartletModel
import Synchronization

@testable import MartletClient

/// A server that does something before it answers, and grants whatever is asked.
final class ActingServer: ClientTransport {
    private let act: @Sendable (_ line: String) async -> ScriptedServer.Entry?
    private let asked = Mutex<[String]>([])

    /// - Parameter act: Told the method and the path of each request. An answer takes the usual one's place.
    init(_ act: @escaping @Sendable (_ line: String) async -> ScriptedServer.Entry?) {
        self.act = act
    }

    /// Method and path of each request.
    var lines: [String] { asked.withLock { $0 } }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        let line = "\(request.method) \(request.url.replacing("https://push.example.org", with: ""))"
        asked.withLock { $0.append(line) }
        let entry = await act(line) ?? Self.standard(line)
        return try await ScriptedServer(entry).send(request)
    }

    private static func standard(_ line: String) -> ScriptedServer.Entry {
        if line == "POST /api/sessions" { return .session("T") }
        return line.hasPrefix("POST /api/register") ? .answer(200, "7") : .ok
    }
}
