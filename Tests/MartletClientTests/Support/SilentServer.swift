@testable import MartletClient

/// A server that never answers; requests end when their tasks are cancelled.
struct SilentServer: ClientTransport {
    func send(_ request: ClientRequest) async throws(ClientTransportError) -> ClientResponse {
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
            for await _ in silence {}
        } onCancel: {
            end.finish()
        }
        throw ClientTransportError(.cancelled, mayHaveBeenProcessed: true, "cancelled")
    }
}
