import Testing

@testable import MartletHubAPI

struct XMLDurationTests {
    @Test(
        arguments: [
            ("P90D", 90 * 86_400_000), ("PT24H", 86_400_000), ("P1DT2H3M4.5S", 93_784_500), ("PT0S", 0),
            ("P1Y2M3D", (365 + 60 + 3) * 86_400_000), ("PT1M", 60_000), ("P1M", 30 * 86_400_000),
            ("PT0.0019S", 1), ("PT36H", 129_600_000), ("P000001D", 86_400_000),
        ] as [(String, Int64)])
    func aDurationIsRead(text: String, milliseconds: Int64) {
        #expect(XMLDuration(text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "P10675199DT2H48M5.4775807S", "P10675200D", "P99999999999999999999999D", "P9223372036854775807Y",
        "PT9223372036854775.807S",
    ])
    func aDurationBeyondTheMaximumHasNoEnd(text: String) throws {
        let duration = try #require(XMLDuration(text))
        #expect(duration.duration == nil)
        #expect(duration.text == "P10675199DT2H48M5.4775807S")
    }

    @Test(arguments: [
        "", "P", "PT", "P1", "1D", "P1DT", "P1H", "PT1D", "P1D1D", "P1D1Y", "-P1D", "P-1D", "P1.5D", "PT1.S", "PT.5S",
        "P1S", " P1D", "P1D ", "p1d", "PT1S1M", "PTT1S", "P1DT1HT1M", "P\u{0661}D",
    ])
    func invalidDurationsAreRefused(text: String) {
        #expect(XMLDuration(text) == nil)
    }

    @Test(
        arguments: [
            (90 * 86_400_000, "P90D"), (93_784_500, "P1DT2H3M4.5S"), (86_400_001, "P1DT0.001S"), (0, "PT0S"),
            (3_600_000, "PT1H"), (922_337_203_685_476, "P10675199DT2H48M5.476S"),
        ] as [(Int64, String)])
    func aDurationIsWritten(milliseconds: Int64, text: String) {
        let duration = XMLDuration(.milliseconds(milliseconds))
        #expect(duration.text == text)
        #expect(XMLDuration(text) == duration)
    }
}
