import MartletModel
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_253_696_123, "2026-11-21T09:34:56.123Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func aMomentIsWrittenInTheFormThatEveryClientReads(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == text)
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        ("2026-02-19T07:48+0000", "2026-02-19T07:48:00.000Z"),
        ("2026-02-19T07:48:00.000Z", "2026-02-19T07:48:00.000Z"),
        ("2026-02-19T07:48:01.1234567Z", "2026-02-19T07:48:01.123Z"),
        ("2026-02-19T07:48:01", "2026-02-19T07:48:01.000Z"),
        ("2026-02-19T09:48:01+02:00", "2026-02-19T07:48:01.000Z"),
        ("2026-02-19T07:48:01.5", "2026-02-19T07:48:01.500Z"),
        ("2026-02-18T23:48:01-0800", "2026-02-19T07:48:01.000Z"),
    ])
    func theFormsThatClientsSendAreRead(text: String, written: String) {
        #expect(Timestamp(iso8601: text)?.iso8601 == written)
    }

    @Test(arguments: [
        "", "2026", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-19T24:00:00Z", "2026-02-19T07:48:00.Z",
        "2026-02-19T07:48:00Zx", "2026-02-19", "２026-02-19T07:48:00Z", "2026-02-19T07:48:00+",
    ])
    func invalidTimesAreRefused(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test func everyDayOfFourCenturiesComesBack() {
        for day in stride(from: Int64(-146_097), through: 146_097, by: 17) {
            let timestamp = Timestamp(seconds: day * 86_400)
            #expect(Timestamp(iso8601: timestamp.iso8601) == timestamp)
        }
    }
}
