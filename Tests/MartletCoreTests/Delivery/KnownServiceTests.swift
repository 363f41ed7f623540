import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct KnownServiceTests {
    private let services = KnownServices()
    private let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: CarrierPigeon.platform)

    private func origin(_ endpoint: String, of lane: LaneID) throws -> String {
        let credential = Credential(["Whistle": "w", "Endpoint": endpoint])
        let service = try services.service(CarrierPigeon.self, of: lane, credential: credential)
        let message = Message(body: Array("coo".utf8))
        return try service.shared(message, token: nil, expiry: .distantFuture, at: Timestamp(seconds: 0)).origin.host
    }

    @Test func eachLaneSendsWithItsLastCredential() throws {
        let other = LaneID(hub: Hub.ID(rawValue: 2), platform: CarrierPigeon.platform)
        for _ in 1...2 {
            #expect(try origin("https://one.example", of: lane) == "one.example")
            #expect(try origin("https://two.example", of: other) == "two.example")
        }
        #expect(try origin("https://three.example", of: lane) == "three.example")
        #expect(try origin("https://one.example", of: lane) == "one.example")
        services.forget(lane)
        #expect(try origin("https://one.example", of: lane) == "one.example")
    }

    @Test func aCredentialThatIsNoneIsRefusedHoweverGoodTheLastOneWas() throws {
        _ = try origin("https://one.example", of: lane)
        for _ in 1...2 {
            #expect(throws: PushServiceError.self) {
                try services.service(CarrierPigeon.self, of: lane, credential: Credential([:]))
            }
        }
        #expect(try origin("https://one.example", of: lane) == "one.example")
    }
}
