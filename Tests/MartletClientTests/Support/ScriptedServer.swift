import MartletModel
import Synchronization

@testable import MartletClient

/// A transport with a script: each request is answered by the next entry.
final class ScriptedServer: ClientTransport {
    enum Entry: Sendable {
        case answer(Int, JSON = "", [String: String] = [:])
        case failure(ClientTransportError.Kind, mayHaveBeenProcessed: Bool = true)
        /// A body of bytes, which breaks off after them where it is not whole.
        case bytes(Int, [UInt8], [String: String] = [:], isWhole: Bool = true)
    }

    private struct State {
        var entries: [Entry]
        var requests: [ClientRequest] = []
    }

    private let state: Mutex<State>

    init(_ entries: Entry...) {
        state = Mutex(State(entries: entries))
    }

    init(_ entries: [Entry]) {
        state = Mutex(State(entries: entries))
    }

    var requests: [ClientRequest] { state.withLock { $0.requests } }

    /// Method and path of each request.
    var lines: [String] {
        requests.map { "\($0.method) \($0.url.replacing("https://push.example.org", with: ""))" }
    }

    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        try answer(next(request))
    }

    func send(
        _ request: ClientRequest, to sink: any ResponseSink
    ) async throws(ClientTransportError) -> ClientResponse {
        let entry = next(request)
        guard case .bytes(let status, let bytes, let fields, let isWhole) = entry else { return try answer(entry) }
        let head = ClientResponse(status: status, fields: fields)
        guard sink.begin(head) else { return ClientResponse(status: status, fields: fields, body: bytes) }
        for byte in bytes where !withUnsafeBytes(of: byte, { sink.receive($0) }) {
            throw ClientTransportError(.cancelled, mayHaveBeenProcessed: true, "no more is wanted")
        }
        guard isWhole else { throw ClientTransportError(.unreachable, mayHaveBeenProcessed: true, "scripted") }
        return head
    }

    private func next(_ request: ClientRequest) -> Entry? {
        state.withLock { state in
            state.requests.append(request)
            return state.entries.isEmpty ? nil : state.entries.removeFirst()
        }
    }

    private func answer(_ entry: Entry?) throws(ClientTransportError) -> ClientResponse {
        switch entry {
        case .answer(let status, let body, let fields):
            return ClientResponse(status: status, fields: fields, body: body.bytes)
        case .bytes(let status, let bytes, let fields, _):
            return ClientResponse(status: status, fields: fields, body: bytes)
        case .failure(let kind, let mayHaveBeenProcessed):
            throw ClientTransportError(kind, mayHaveBeenProcessed: mayHaveBeenProcessed, "scripted")
        case nil:
            throw ClientTransportError(.cancelled, mayHaveBeenProcessed: false, "The script is over.")
        }
    }
}

extension ScriptedServer.Entry {
    static func session(_ token: String) -> ScriptedServer.Entry { .answer(201, ["token": .string(token)]) }
    static let offline = ScriptedServer.Entry.failure(.unreachable, mayHaveBeenProcessed: false)
    static let ok = ScriptedServer.Entry.answer(200)
}

/// Writes down the waits that the client asks for, and waits for none of them.
final class Waits: Sendable {
    private let all = Mutex<[Duration]>([])
    var waits: [Duration] { all.withLock { $0 } }
    func append(_ wait: Duration) { all.withLock { $0.append(wait) } }
}
