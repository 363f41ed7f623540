import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsSimulatorFaultTests {
    private static let now = APNsSimulatorFixture.now

    @Test(arguments: [
        ("dead0410", HandleMarker.unregistered), ("dead0400", .unknown), ("dead0429", .throttle(2)),
        ("dead0500", .error), ("dead0503", .unavailable), ("deadc105", .reset), ("dead5109", .slow(5000)),
    ])
    func aMarkedTokenAsksForItsFaultAndNeedsNoDevice(suffix: String, marker: HandleMarker) throws {
        var fixture = try APNsSimulatorFixture()
        let token = String(repeating: "a", count: 56) + suffix
        let request = try fixture.request(to: token.uppercased())
        let subject = fixture.simulator.subject(of: request)
        #expect(subject == SimulatedSubject(.send, app: "com.example.app", handle: token, marker: marker))
        #expect(try fixture.verdict(request) == "200 ")
    }

    @Test func theAppOfARequestIsItsTopicWithoutTheSuffix() throws {
        let fixture = try APNsSimulatorFixture()
        let request = try fixture.request(["apns-topic": "com.example.app.voip"])
        #expect(fixture.simulator.subject(of: request).app == "com.example.app")
        #expect(fixture.simulator.subject(of: HTTPRequest(.post, "/4/broadcasts")).endpoint == .manage)
    }

    @Test(arguments: [
        (ServiceFault.Name.rateLimit, "429 TooManyRequests"), (.internalError, "500 InternalServerError"),
        (.unavailable, "503 ServiceUnavailable"), (.unregistered, "410 Unregistered"),
        (.unknownHandle, "400 BadDeviceToken"), (.wrongSender, "400 DeviceTokenNotForTopic"),
        (.expiredToken, "403 ExpiredProviderToken"), (.credentialRefused, "403 InvalidProviderToken"),
        (.unknownReason, "400 NothingYouKnow"), ("BadEnvironmentKeyIdInToken", "403 BadEnvironmentKeyIdInToken"),
        ("TooManyProviderTokenUpdates", "429 TooManyProviderTokenUpdates"), ("Shutdown", "503 Shutdown"),
    ])
    func aFaultIsWordedAsTheServiceWordsIt(name: ServiceFault.Name, verdict: String) throws {
        var fixture = try APNsSimulatorFixture()
        #expect(APNsSimulator.faults.contains(name))
        let response = fixture.simulator.answer(try fixture.request(), fault: ServiceFault(name), at: Self.now).response
        let reason = try JSON(parsing: response.bytes)["reason"]?.string ?? ""
        #expect("\(response.status.code) \(reason)" == verdict)
        #expect(fixture.simulator.counters["accepted"] == nil)
        #expect(try fixture.verdict(fixture.request()) == "200 ")
    }

    @Test func everyReasonOfTheServiceCanBeAskedFor() throws {
        var fixture = try APNsSimulatorFixture()
        let request = try fixture.request()
        for (reason, status) in APNsRefusal.statuses {
            let fault = ServiceFault(ServiceFault.Name(rawValue: reason))
            #expect(APNsSimulator.faults.contains(fault.name))
            let response = fixture.simulator.answer(request, fault: fault, at: Self.now).response
            #expect(response.status == status)
            #expect(try JSON(parsing: response.bytes)["reason"]?.string == reason)
        }
    }

    @Test func aRequestThatIsWrongInItselfIsToldSoAndNotOfTheFault() throws {
        var fixture = try APNsSimulatorFixture()
        let request = try fixture.request(["apns-priority": "7"])
        let response = fixture.simulator.answer(request, fault: ServiceFault(.unavailable), at: Self.now).response
        #expect(try JSON(parsing: response.bytes)["reason"]?.string == "BadPriority")
    }

    @Test func aHandleCanHaveBeenGoneForAsLongAsWanted() throws {
        var fixture = try APNsSimulatorFixture()
        let fault = ServiceFault(.unregistered, age: 3600)
        let response = fixture.simulator.answer(try fixture.request(), fault: fault, at: Self.now).response
        let timestamp = try JSON(parsing: response.bytes)["timestamp"]?.integer
        #expect(timestamp == (Self.now.seconds - 3600) * 1000)
    }

    @Test func aStickyFaultStaysWithItsConnection() throws {
        var fixture = try APNsSimulatorFixture()
        let fault = ServiceFault(.expiredToken, isSticky: true)
        _ = fixture.simulator.answer(try fixture.request(), fault: fault, at: Self.now)
        #expect(try fixture.verdict(fixture.request()) == "403 ExpiredProviderToken")
        let other = APNsSimulatorFixture.connection(2)
        #expect(try fixture.verdict(fixture.request(on: other)) == "200 ")
        fixture.simulator.close(1)
        #expect(try fixture.verdict(fixture.request()) == "200 ")
    }

    @Test func aFaultThatDeliversRefusesWhatItHasTaken() throws {
        var fixture = try APNsSimulatorFixture()
        _ = try fixture.listen()
        let fault = ServiceFault(.unavailable, isDelivered: true)
        let answer = fixture.simulator.answer(try fixture.request(), fault: fault, at: Self.now)
        #expect(answer.response.status == .serviceUnavailable)
        #expect(answer.delivery?.handle == fixture.device)
        #expect(fixture.simulator.devices[fixture.device]?.accepted == 1)
    }
}
