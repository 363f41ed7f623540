import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

struct EventStreamTests {
    /// Runs a device's event stream and hands its events to `body`, one after the other.
    private func follow(
        _ handle: String, on fixture: SimulatorFixture,
        _ body: (inout AsyncStream<String>.Iterator) async throws -> Void
    ) async throws {
        let request = HTTPRequest(
            .get, "/simulator/devices/\(handle)/events", connection: SimulatorFixture.connection)
        let response = await fixture.handler.respond(to: request)
        #expect(response.fields["content-type"] == "text/event-stream")
        guard case .stream(_, let write) = response.body else {
            Issue.record("events are a stream")
            return
        }
        let writer = CollectingWriter()
        let running = Task {
            try await write(writer)
            writer.finish()
        }
        var events = writer.chunks.makeAsyncIterator()
        #expect(await events.next() == ": listening\n\n")
        try await body(&events)
        running.cancel()
        _ = await running.result
    }

    private func payload(_ event: String?) throws -> JSON? {
        let data = try #require(event?.split(separator: "\n").first { $0.hasPrefix("data: ") })
        return try JSON(parsing: Array(data.dropFirst(6).utf8))["payload"]
    }

    @Test func keptDataComesFirstAndTheRestAsItIsAccepted() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        let token = try SimulatorFixture.providerToken(.generate())
        for text in ["lost", "kept"] { _ = await fixture.push(text, to: handle, token: token) }
        try await follow(handle, on: fixture) { events in
            let event = await events.next()
            let shown = try payload(event)
            #expect(shown == ["aps": ["alert": "kept"]])
            for text in ["one", "two\nlines", "🦜"] {
                _ = await fixture.push(text, to: handle, token: token)
                let event = await events.next()
                #expect(event?.hasPrefix("id: ") == true)
                #expect(event?.contains("\nevent: notification\ndata: ") == true)
                #expect(event?.hasSuffix("\n\n") == true)
                let shown = try payload(event)
                #expect(shown == ["aps": ["alert": .string(text)]])
            }
        }
    }

    @Test func onlyTheDeviceItselfReceives() async throws {
        let fixture = SimulatorFixture()
        let (mine, other) = (try await fixture.device(), try await fixture.device())
        let token = try SimulatorFixture.providerToken(.generate())
        try await follow(mine, on: fixture) { events in
            _ = await fixture.push("not for me", to: other, token: token)
            _ = await fixture.push("for me", to: mine, token: token)
            let event = await events.next()
            let shown = try payload(event)
            #expect(shown == ["aps": ["alert": "for me"]])
        }
    }

    @Test func aClosedStreamGetsNoMoreEvents() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        let token = try SimulatorFixture.providerToken(.generate())
        try await follow(handle, on: fixture) { _ in }
        _ = await fixture.push("later", to: handle, token: token)
        try await follow(handle, on: fixture) { events in
            let event = await events.next()
            let shown = try payload(event)
            #expect(shown == ["aps": ["alert": "later"]])
        }
    }

    @Test func theStreamEndsWhenTheAppIsRemoved() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        try await follow(handle, on: fixture) { events in
            _ = try await fixture.control(.delete, "/simulator/devices/\(handle)")
            #expect(await events.next() == nil)
        }
    }
}
