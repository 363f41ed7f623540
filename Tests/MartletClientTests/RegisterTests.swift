import MartletModel
import Testing

@testable import MartletClient

struct RegisterTests {
    let token: [UInt8] = [0x0a, 0xbc, 0xff]

    @Test func aFirstRegistrationAsksForAnIDAndKeepsIt() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, "12-34-1"), .ok))
        try await phone.client.register(deviceToken: token, platform: "apns", tags: ["news"])
        #expect(
            phone.server.lines == [
                "POST /api/sessions", "POST /api/register?handle=0ABCFF", "PUT /api/register/12-34-1",
            ])
        let body = try JSON(parsing: try #require(phone.server.requests[2].body))
        #expect(body == ["Platform": "apns", "Handle": "0ABCFF", "Tags": ["news"]])
        #expect(await phone.ids.load() == "12-34-1")
    }

    @Test func aLaterLaunchUsesTheKeptIDAndTheTokenOfTheDay() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .ok, .ok), id: "12-34-1")
        try await phone.client.register(deviceToken: token, platform: "apns")
        try await phone.client.register(deviceToken: [0xDD], platform: "apns")
        #expect(phone.server.lines.dropFirst() == ["PUT /api/register/12-34-1", "PUT /api/register/12-34-1"])
        let handles = try phone.server.requests.dropFirst().map {
            try JSON(parsing: try #require($0.body))["Handle"]?.string
        }
        #expect(handles == ["0ABCFF", "DD"])
    }

    @Test func anIDThatIsGoneIsForgottenBeforeAnotherIsAskedFor() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(410), .answer(200, "new"), .ok), id: "old")
        try await phone.client.register(deviceToken: token, platform: "apns")
        #expect(
            phone.server.lines.dropFirst() == [
                "PUT /api/register/old", "POST /api/register?handle=0ABCFF", "PUT /api/register/new",
            ])
        #expect(await phone.ids.load() == "new")
        let cut = try await Phone(
            ScriptedServer(.session("T"), .answer(410), .failure(.insecure)), id: "old")
        await #expect(throws: PushClientError.self) {
            try await cut.client.register(deviceToken: token, platform: "apns")
        }
        #expect(await cut.ids.load() == nil)
    }

    @Test func aNewIDThatIsGoneAtOnceIsAnError() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .answer(200, "a"), .answer(410)))
        await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: token, platform: "apns")
        }
        #expect(await phone.ids.load() == nil)
        #expect(phone.server.requests.count == 3)
    }

    @Test func aRefusalIsToldInTheServersWords() async throws {
        let phone = try await Phone(
            ScriptedServer(.session("T"), .answer(400, ["code": 40004, "message": "No such tag."])), id: "1")
        let error = await #expect(throws: PushClientError.self) {
            try await phone.client.register(deviceToken: token, platform: "apns")
        }
        #expect(error?.kind == .refused(status: 400))
        #expect(error?.message == "No such tag.")
    }

    @Test func unregisteringDeletesAndForgets() async throws {
        for status in [200, 404, 410] {
            let phone = try await Phone(ScriptedServer(.session("T"), .answer(status)), id: "1")
            try await phone.client.unregister()
            #expect(phone.server.lines.last == "DELETE /api/register/1")
            #expect(await phone.ids.load() == nil)
            try await phone.client.unregister()
            #expect(phone.server.requests.count == 2)
        }
        let refused = try await Phone(ScriptedServer(.session("T"), .answer(403)), id: "1")
        await #expect(throws: PushClientError.self) { try await refused.client.unregister() }
        #expect(await refused.ids.load() == "1")
    }

    @Test func tagsAreChangedWithTheTokenOfThisLaunch() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .ok, .ok), id: "1")
        let error = await #expect(throws: PushClientError.self) { try await phone.client.changeTags(to: ["news"]) }
        #expect(error?.kind == .tokenNeeded)
        #expect(phone.server.requests.isEmpty)
        try await phone.client.register(deviceToken: token, platform: .apns, tags: ["news"])
        try await phone.client.changeTags(to: ["sport"])
        let body = try JSON(parsing: try #require(phone.server.requests.last?.body))
        #expect(body == ["Platform": "apns", "Handle": "0ABCFF", "Tags": ["sport"]])
    }

    @Test func anIDCannotBreakOutOfItsPlace() async throws {
        let phone = try await Phone(ScriptedServer(.session("T"), .ok), id: "../x?y=é")
        try await phone.client.register(deviceToken: token, platform: "apns")
        #expect(phone.server.lines.last == "PUT /api/register/..%2Fx%3Fy%3D%C3%A9")
    }
}
