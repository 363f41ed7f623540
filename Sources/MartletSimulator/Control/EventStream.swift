import MartletHTTP
import MartletModel
import MartletPush

/// Follows a device with server-sent events (WHATWG HTML, section 9.2): one event `notification` for each delivery.
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
        // Tells the listener that it will miss nothing from now on.
        try await writer.write(Array(": listening\n\n".utf8))
        for await delivery in deliveries { try await writer.write(Self.event(delivery)) }
    }

    /// Returns the event of a delivery. JSON without line feeds fits one `data` line.
    static func event(_ delivery: SimulatedDelivery) -> [UInt8] {
        Array("id: \(delivery.id)\nevent: notification\ndata: \(delivery.json.text)\n\n".utf8)
    }
}
