import MartletModel
import Testing

struct InstallationPartTests {
    @Test(
        "A line of an export names the user by a tag",
        arguments: [
            (stored: "John Smith", line: nil, after: "John Smith"), ("jsmith", nil, nil), (nil, nil, nil),
            ("John Smith", "jsmith", "jsmith"), (nil, "jsmith", "jsmith"),
        ] as [(stored: String?, line: String?, after: String?)])
    func aUserThatCannotBeATagIsKept(stored: String?, line: String?, after: String?) throws {
        let platform = PlatformID(rawValue: "pigeon")
        var installation = Installation(id: "i", userID: stored, platform: platform, pushChannel: .text("a"))
        try installation.merge(
            InstallationPart(installation: "i", userID: line, platform: platform, pushChannel: .text("a")))
        #expect(installation.userID == after)
    }
}
