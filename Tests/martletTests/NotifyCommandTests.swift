import MartletClient
import Testing

@testable import martlet

struct NotifyCommandTests {
    @Test(
        "What is not one kind of notification for one audience is the user's mistake, before a password is asked for",
        arguments: [
            ([], "--to"), (["--secure"], "--to"), (["--secure", "--to", "alice", "--tags", "news"], "--tags"),
            (["--rich", "a.png", "--secure", "--to", "alice"], "--rich"),
            (["--tags", "news", "--platform", "apns"], "--to"),
            (["--message", "{}", "--to", "alice", "--platform", "apns"], "--message"),
            (["--secure", "--to", "alice", "--platform", "apns"], "--secure"),
            (["--message", "{\"text\": \"x\"}", "--to", "alice"], "--message"),
            (["--platform", "appel", "--to", "alice"], "--platform"),
        ])
    func mistakesAreToldFirst(words: [String], option: String) async throws {
        let given = ["text", "--user", "bob", "--backend", "http://localhost:1"] + words
        let invocation = try Invocation(NotifyCommand.command, words: given) { _ in nil }
        let error = await #expect(throws: UsageError.self) { try await NotifyCommand.command.run(invocation) }
        #expect(error?.description.contains(option) == true)
    }

    @Test func furtherMembersMakeAMessageAndATextIsNoneOfThem() throws {
        let message = try #require(Message(members: #"{"data": {"room": "17"}, "badge": "+1"}"#, text: "hi"))
        #expect(message.text == "hi" && message.data == ["room": "17"] && message.badge == .increment)
        for members in ["", "[]", #"{"text": "x"}"#, #"{"tittle": "x"}"#, #"{"platforms": {"adm": false}}"#] {
            #expect(Message(members: members, text: "hi") == nil)
        }
    }

    @Test(arguments: [
        ("picture.png", "image/png"), ("A/Picture.JPG", "image/jpeg"), ("a.b/sound.mp3", "audio/mpeg"),
        ("png", "application/octet-stream"), ("a.png/file", "application/octet-stream"),
        ("notes.xyz", "application/octet-stream"),
    ])
    func aFilesMediaTypeIsToldByItsName(path: String, type: String) {
        #expect(MediaType.ofFile(named: path) == type)
    }
}
