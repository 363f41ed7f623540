import MartletModel
import Testing

@testable import martlet

struct NotificationPictureTests {
    @Test func aNotificationIsDrawnInAFrameOfOneWidth() throws {
        let appearance: JSON = [
            "title": "정오까지 반값", "text": "Every bike in the shop, and all of the tubes that go with them, until noon",
            "badge": 3, "actions": ["Buy", "Later"], "link": "https://shop.example/sale", "lines": ["text": 4],
            "isSilent": false, "cautions": ["subtitleNotShown"],
        ]
        let lines = NotificationPicture(appearance).lines
        #expect(Set(lines.dropLast().map(NotificationPicture.columns)) == [50])
        #expect(lines[1].hasPrefix("│ 정오까지 반값 (3) "))
        #expect(lines[2].hasPrefix("│ Every bike in the shop, and all of the tubes "))
        #expect(lines.contains { $0.contains("[Buy] [Later]") })
        #expect(lines.last == "! The subtitle is not shown.")
    }

    @Test func aMessageThatShowsNothingIsReported() {
        #expect(NotificationPicture(["isSilent": true]).lines == ["(shows nothing, wakes the app)"])
    }

    @Test func aTextCannotSteerTheTerminalNorLeaveTheFrame() {
        let long = String(repeating: "x", count: 500)
        let lines = NotificationPicture(["text": .string("\u{1B}[2J\(long)"), "lines": ["text": 2]]).lines
        #expect(lines.allSatisfy { !$0.unicodeScalars.contains("\u{1B}") })
        #expect(lines.count == 4)
        #expect(Set(lines.map(NotificationPicture.columns)) == [50])
        #expect(lines[2].hasSuffix("… │"))
    }
}
