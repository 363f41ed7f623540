import MartletModel
import Synchronization

@testable import MartletClient

/// A transport with a script: each request is answered by the next entry.
final class ScriptedServer: ClientTransport {
    enum Entry: Sendable {
        case answer(Int, JSON = "", [String: String] = [:])
        case failure(ClientTransportError.Kind, mayHaveBeenProcessed: Bool = true)
    }

    private struct State {
        var entries: [Entry]
        var requests: [ClientRequest] = []
    }

    private let state: Mutex<State>

    init(_ entries: Entry...) {
        state = Mutex(State(entries: entries))
    }

    var requests: [ClientRequest] { state.withLock { $0.requests } }

    /// Method and path of each request.
    var lines: [String] {
        requests.map { "\($0.method) \($0.url.replacing("https://push.example.org", with: ""))" }
    }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        let entry = state.withLock { state in
            state.requests.append(request)
            return state.entries.isEmpty ? nil : state.entries.removeFirst()
        }
        switch entry {
        case .answer(let status, let body, let fields):
            return ClientResponse(status: status, fields: fields, body: body.bytes)
        case .failure(let kind, let mayHaveBeenProcessed):
            throw ClientTransportError(kind, mayHaveBeenProcessed: mayHaveBeenProcessed, "scripted")
        case nil:
            throw ClientTransportError(.cancelled, mayHaveBeenProcessed: false, "The script is over.")
        }
    }
}

extension ScriptedServer.Entry {
    static func session(_ token: String) -> ScriptedServer.Entry { .answer(201, ["token": .string(token)]) }
    static let ok = ScriptedServer.Entry.answer(200)
}

/// Writes down the waits that the client asks for, and waits for none of them.
final class Waits: Sendable {
    private let all = Mutex<[Duration]>([])
    var waits: [Duration] { all.withLock { $0 } }
    func append(_ wait: Duration) { all.withLock { $0.append(wait) } }
}

/// A client of a scripted server.
struct Phone {
    let client: PushClient
    let server: ScriptedServer
    let waits = Waits()
    let ids: KeptID
    let credentials = KeptCredentials()
    let receipts = MemoryStore()

    init(
        _ server: ScriptedServer, id: String? = nil, due: RegistrationRecord.Due? = nil, loggedIn: Bool = true,
        retry: RetryPolicy = RetryPolicy(keepsTrying: false), chance: Double = 1
    ) async throws {
        self.server = server
        ids = KeptID(id, due: due)
        let waits = waits
        client = PushClient(
            server: try ServerAddress("https://push.example.org"), transport: server,
            stores: ClientStores(credentials: credentials.store, registration: ids.store, receipts: receipts),
            tokens: nil, retry: retry,
            surroundings: ClientSurroundings(sleep: { waits.append($0) }, chance: { chance }))
        if loggedIn { await credentials.save(Credentials(user: "alice", password: "secret")) }
    }
}
