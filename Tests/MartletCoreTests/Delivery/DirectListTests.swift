import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct DirectListTests {
    private func handles(_ count: Int) -> [PushHandle] { (1...count).map { PushHandle("loft\($0)") } }

    @Test func everyHandleOfAListIsReachedOnceOverManyPages() async throws {
        let flight = try await Flight()
        let delivery = try await flight.accept(to: .direct(handles(7) + [PushHandle("LOFT3")]))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == (1...7).map { "loft\($0)" })
        #expect(Set(flight.transport.sent.map(\.id)).count == 7)
        #expect(try await flight.report(delivery).counts == [.success: 7])
    }

    @Test func aListGoesOnWhereItStopped() async throws {
        let flight = try await Flight { loft, attempt in
            loft == "loft2" && attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        let delivery = try await flight.accept(to: .direct(handles(5)))
        let map = try flight.maps.map(for: delivery.id, through: delivery.lastNumber)
        map.insert(AudienceMember(channel: .none, registration: 1))
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft2", "loft3", "loft4", "loft5", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 5])
    }

    @Test func aDeadHandleOfAListIsReportedAndConcernsNoRegistration() async throws {
        let flight = try await Flight { loft, _ in loft == "loft2" ? answered(404) : answered(200) }
        try await flight.register(3)
        let delivery = try await flight.accept(to: .direct(handles(3)))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 2, .badChannel: 1])
        let refusals = try await flight.refusals(delivery)
        #expect(refusals.map(\.handle) == [PushHandle("loft2")])
        #expect(refusals.map(\.registration) == [nil])
    }

    @Test func aListIsRefusedWithThePlaceOfWhatIsWrong() async throws {
        let flight = try await Flight()
        for (list, sentence) in [
            (handles(3) + [PushHandle("not a loft")], "Handle 4: A loft has 1 to 64 letters and digits."),
            ([], "A direct send goes to 1 to 1000 handles."),
            (handles(1001), "A direct send goes to 1 to 1000 handles."),
        ] {
            do {
                _ = try await flight.accept(to: .direct(list))
                Issue.record("'\(sentence)' is missing")
            } catch NotificationIntakeError.invalid(let found) {
                #expect(found == sentence)
            }
        }
    }
}
