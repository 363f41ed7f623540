import MartletCore
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletHubAPI

struct TestSendLimitTests {
    private let time = ManualTimeSource(HubFixture.start)
    private let hub = Hub.ID(rawValue: 1)

    @Test("A hub has ten test sends a minute, and is told in whole seconds when the next one is free (trap 13)")
    func aHubHasTenAMinute() throws {
        let limit = TestSendLimit(time: time)
        for _ in 1...10 {
            try limit.admit(hub)
            time.advance(by: .milliseconds(100))
        }
        let error = try #require(throws: HubAPIError.self) { try limit.admit(hub) }
        #expect(error.status == .tooManyRequests)
        #expect(error.fields["retry-after"] == "59")
        try limit.admit(Hub.ID(rawValue: 2))
        time.advance(by: .seconds(59))
        try limit.admit(hub)
        #expect(throws: HubAPIError.self) { try limit.admit(hub) }
    }

    @Test func whatWasRefusedDoesNotCount() throws {
        let limit = TestSendLimit(time: time)
        for _ in 1...10 { try limit.admit(hub) }
        for _ in 1...10 { #expect(throws: HubAPIError.self) { try limit.admit(hub) } }
        time.advance(by: .seconds(60))
        for _ in 1...10 { try limit.admit(hub) }
    }
}
