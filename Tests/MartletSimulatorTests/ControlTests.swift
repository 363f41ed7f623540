import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

struct ControlTests {
    @Test func aHandleThatNoPathCanHoldStandsInAQuery() async throws {
        let fixture = SimulatorFixture()
        let (_, made) = try await fixture.control(.post, "/simulator/devices", ["platform": "browser"])
        let handle = PercentEncoding.encode(try #require(made["handle"]?.string))
        let (status, body) = try await fixture.control(.get, "/simulator/device?handle=\(handle)")
        #expect(status == 200)
        #expect(body["platform"]?.string == "browser")
        #expect(try await fixture.control(.delete, "/simulator/device?handle=\(handle)").0 == 204)
        #expect(try await fixture.control(.get, "/simulator/device/events?handle=\(handle)").0 == 404)
        #expect(try await fixture.control(.get, "/simulator/device").0 == 404)
    }

    @Test func aDeviceIsHandedOutAndReceives() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        #expect(handle.utf8.count == 64)
        let token = try SimulatorFixture.providerToken(.generate())
        #expect(await fixture.push("hello", to: handle, token: token).status == .ok)
        let (status, body) = try await fixture.control(.get, "/simulator/devices/\(handle)")
        #expect(status == 200)
        #expect(body["accepted"]?.integer == 1)
        #expect(body["app"]?.string == "com.example.app")
        #expect(body["inbox"]?.array?.first?["payload"] == ["aps": ["alert": "hello"]])
        let (_, counters) = try await fixture.control(.get, "/simulator/counters")
        #expect(counters["apns"]?["accepted"]?.integer == 1)
    }

    @Test func aRegisteredAppsOwnKeyIsNeeded() async throws {
        let fixture = SimulatorFixture(acceptsAnyKey: false)
        let handle = try await fixture.device()
        let key = try P256PrivateKey.generate()
        let token = try SimulatorFixture.providerToken(key)
        #expect(await fixture.push("hello", to: handle, token: token).status == .forbidden)
        let (status, _) = try await fixture.control(
            .post, "/simulator/apps",
            [
                "platform": "apns", "bundleId": "com.example.app", "teamId": "DEF123GHIJ", "keyId": "ABC123DEFG",
                "publicKey": .string(try key.publicKey.pem()),
            ])
        #expect(status == 204)
        #expect(await fixture.push("hello", to: handle, token: token).status == .ok)
        let stranger = try SimulatorFixture.providerToken(.generate())
        #expect(await fixture.push("hello", to: handle, token: stranger).status == .forbidden)
    }

    @Test func anAppThatLeavesItsDeviceIsGone() async throws {
        let fixture = SimulatorFixture()
        let handle = try await fixture.device()
        #expect(try await fixture.control(.delete, "/simulator/devices/\(handle)").0 == 204)
        let token = try SimulatorFixture.providerToken(.generate())
        #expect(await fixture.push("hello", to: handle, token: token).status == .gone)
        #expect(try await fixture.control(.get, "/simulator/devices/\(handle)/events").0 == 404)
        let (_, body) = try await fixture.control(.get, "/simulator/devices/\(handle)")
        #expect(body["removedAt"]?.string == SimulatorFixture.now.iso8601)
    }

    @Test(arguments: [
        ("/simulator/devices", "{", "Not valid JSON"), ("/simulator/devices", "{}", "platform"),
        ("/simulator/devices", #"{"platform":"pigeon"}"#, "platform"),
        ("/simulator/devices", #"{"platform":"apns","topic":"not a topic"}"#, "topic"),
        ("/simulator/apps", #"{"platform":"apns","bundleId":"a"}"#, "teamId"),
    ])
    func aWrongRequestIsToldWhatIsWrong(path: String, body: String, word: String) async throws {
        let request = HTTPRequest(.post, path, body: Array(body.utf8))
        let response = await SimulatorFixture().handler.respond(to: request)
        #expect(response.status == .badRequest)
        #expect(try JSON(parsing: response.bytes)["error"]?.string?.contains(word) == true)
    }

    @Test func missingItemsAreNotFound() async throws {
        let fixture = SimulatorFixture()
        #expect(try await fixture.control(.get, "/devices").0 == 404)
        #expect(try await fixture.control(.get, "/simulator/devices/abcd").0 == 404)
        #expect(try await fixture.control(.delete, "/simulator/devices/abcd").0 == 404)
        #expect(try await fixture.control(.put, "/simulator/devices").0 == 405)
    }

    @Test func bodiesAreCollectedAsFarAsTheyAreOfUse() {
        let fixture = SimulatorFixture()
        let handler = fixture.handler
        #expect(fixture.service.route(for: HTTPRequest(.post, "/3/device/ab")).bodyLimit == 65_536)
        #expect(handler.route(for: HTTPRequest(.post, "/simulator/devices")).bodyLimit == 16_384)
        #expect(handler.route(for: HTTPRequest(.get, "/simulator/counters")).bodyLimit == 0)
    }
}
