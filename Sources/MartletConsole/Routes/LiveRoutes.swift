import MartletCore
import MartletHTTP
import MartletModel

/// The console's routes for alerts, for the history of figures and for event streams.
struct LiveRoutes: Sendable {
    let live: LiveConsole

    var all: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/alerts", .anyRole) { call throws(ConsoleRefusal) in
                HTTPResponse(.ok, consoleJSON: await live.alerts(for: try call.signedIn().entry.roles))
            },
            ConsoleRoute(.get, "/now", .anyRole) { call throws(ConsoleRefusal) in
                HTTPResponse(.ok, consoleJSON: await live.past([.now], for: try call.signedIn().entry.roles))
            },
            ConsoleRoute(.get, "/metrics/history", .anyRole) { call throws(ConsoleRefusal) in
                let text = call.match.target.item("range")?.value ?? MetricHistory.Range.minutes.rawValue
                guard let range = MetricHistory.Range(rawValue: text) else {
                    throw .badRequest("range is 15m, 24h or 35d.")
                }
                return HTTPResponse(.ok, consoleJSON: live.history(range))
            },
            ConsoleRoute(.get, "/events", .anyRole, work: events),
        ]
    }

    @Sendable private func events(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (session, entry) = try call.signedIn()
        guard let topics = Topic.list(call.match.target.item("topics")?.value ?? "now") else {
            throw .badRequest(
                "topics are 1 to \(Topic.countLimit) of now, send:HUB:ID and sends:HUB, with commas between them.")
        }
        for hub in topics.compactMap(\.hub) where entry.roles.role(for: hub) == nil {
            throw .forbidden(.viewer, hub: hub)
        }
        let mailbox = EventMailbox()
        let stream = EventStreams.Entry(mailbox: mailbox, session: session, roles: entry.roles, topics: topics)
        guard let number = live.streams.add(stream) else {
            throw .tooMany(retryAfter: 10, "There are too many open streams: ask /now every ten seconds.")
        }
        let fields: HTTPFields = [
            "content-type": "text/event-stream", "cache-control": "no-store, no-transform", "x-accel-buffering": "no",
        ]
        return HTTPResponse(
            .ok, fields: fields,
            body: .stream { [live] writer in
                defer { live.streams.remove(number) }
                // The session may have ended after the gate had read it and before the stream was added.
                await live.recheck(session.operatorName)
                guard !mailbox.isEnded else { return try await writer.write(mailbox.take().bytes) }
                let past = await live.past(topics, for: entry.roles)
                try await writer.write(ServerSentEvent.retry + ServerSentEvent.bytes("past", past))
                for await _ in mailbox.wakes {
                    let (bytes, isEnded) = mailbox.take()
                    if !bytes.isEmpty { try await writer.write(bytes) }
                    if isEnded { return }
                }
            })
    }
}
