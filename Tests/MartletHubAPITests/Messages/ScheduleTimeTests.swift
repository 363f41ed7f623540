import MartletModel
import Testing

@testable import MartletHubAPI

struct ScheduleTimeTests {
    @Test(
        "Every client's spelling of a moment is read, without a zone as UTC",
        arguments: [
            ("2026-11-21T09:22:56", "2026-11-21T09:22:56.000Z"),
            ("2026-11-21T09:22:56.000Z", "2026-11-21T09:22:56.000Z"),
            ("2026-11-21T09:22:56.123456", "2026-11-21T09:22:56.123Z"),
            ("2026-11-21T09:22:56.123456+00:00", "2026-11-21T09:22:56.123Z"),
            ("2026-11-21T11:22:56+02:00", "2026-11-21T09:22:56.000Z"),
            ("2026-11-21T01:22:56-0800", "2026-11-21T09:22:56.000Z"),
            ("2026-11-21'T'09:22:56", "2026-11-21T09:22:56.000Z"),
            ("2026-11-21T09:22", "2026-11-21T09:22:00.000Z"),
            ("2027-11-21T09:22:56", "2027-11-21T09:22:56.000Z"),
        ])
    func everySpellingIsRead(text: String, timestamp: String) throws {
        #expect(try ScheduleTime.timestamp(text).iso8601 == timestamp)
    }

    @Test(arguments: ["", "soon", "2026-11-21", "2026-11-21''T''09:22:56", "'2026-11-21T09:22:56'", "1795253696"])
    func invalidTimesAreRefused(text: String) {
        #expect {
            _ = try ScheduleTime.timestamp(text)
        } throws: { ($0 as? HubAPIError)?.sentence.contains("must be a time such as") == true }
    }
}
