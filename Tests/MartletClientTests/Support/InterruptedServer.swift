import MartletModel
import Synchronization

@testable import MartletClient

/// A server whose session tokens are the users' names, and which lets something happen before its first answer.
final class InterruptedServer: ClientTransport {
    private let interruption = Mutex<(@Sendable () async -> Void)?>(nil)
    private let shown = Mutex<[String]>([])

    /// The tokens that requests besides logging in have shown.
    var tokens: [String] { shown.withLock { $0 } }

    func interrupt(_ work: @escaping @Sendable () async -> Void) {
        interruption.withLock { $0 = work }
    }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        let work = interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption
        }
        await work?()
        if let token = request.fields["authorization"] {
            shown.withLock { $0.append(String(token.dropFirst("Bearer ".count))) }
            return ClientResponse(status: 200, fields: [:], body: JSON.object(["id": "7"]).bytes)
        }
        let user = (try? JSON(parsing: request.body ?? []))?["user"]?.string ?? ""
        return ClientResponse(status: 201, fields: [:], body: JSON.object(["token": .string(user)]).bytes)
    }
}
