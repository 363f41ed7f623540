import MartletHTTP
import MartletModel
import MartletPush

/// Sends the notifications of a device as server-sent events (WHATWG HTML, section 9.2).
///
/// Each delivery is one event with the name `notification`.
struct EventStream {
    let state: SimulatorState
    let handle: String

    var response: HTTPResponse {
        let stream = self
        return HTTPResponse(
            .ok, fields: ["content-type": "text/event-stream", "cache-control": "no-store"],
            body: .stream { try await stream.write(to: $0) })
    }

    private func write(to writer: any HTTPBodyWriter) async throws {
        guard let (deliveries, stop) = state.listen(to: handle) else { return }
        defer { stop() }
        // The stream starts with a comment line. A client that has received this line gets every notification that
        // arrives later.
        try await writer.write(Array(": listening\n\n".utf8))
        for await delivery in deliveries { try await writer.write(Self.event(delivery)) }
    }

    /// Returns the event for a delivery.
    ///
    /// The JSON text contains no line feeds, so it fits into one `data` line.
    static func event(_ delivery: SimulatedDelivery) -> [UInt8] {
        Array("id: \(delivery.id)\nevent: notification\ndata: \(delivery.json.text)\n\n".utf8)
    }
}
