import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct KnownServiceTests {
    private let services = PushServiceCache()
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

    @Test("More lanes than there is room for push out those that were not used for longest, and no others")
    func noMoreMemoryIsTakenThanTheLimit() throws {
        let services = PushServiceCache(byteLimit: 1 << 20)
        let made = Credential(["Whistle": "w", "Endpoint": "https://one.example"])
        func isKnown(_ number: Int64) -> Bool {
            services.contains(LaneID(hub: Hub.ID(rawValue: number), platform: CarrierPigeon.platform))
        }
        for number in Int64(1)...1000 {
            for lane in [1, number] {
                let id = LaneID(hub: Hub.ID(rawValue: lane), platform: CarrierPigeon.platform)
                _ = try services.service(CarrierPigeon.self, of: id, credential: made)
            }
            #expect(services.bytes <= 1 << 20)
        }
        #expect(isKnown(1))
        #expect(isKnown(1000))
        #expect(isKnown(950))
        #expect(!isKnown(2))
    }
}
