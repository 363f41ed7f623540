import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct MPNSSimulatorTests {
    private static let now = MPNSFixture.now

    private static func verdict(_ response: HTTPResponse) -> String {
        let names = ["x-notificationstatus", "x-deviceconnectionstatus", "x-subscriptionstatus"]
        return "\(response.status.code) " + names.map { response.fields[$0] ?? "" }.joined(separator: "/")
    }

    /// The checks of PushServices.md, section 10.5, by what is wrong.
    @Test(arguments: [
        ("nothing", "200 Received/Temp Disconnected/Active"), ("method", "405 N/A/N/A/N/A"),
        ("channel", "404 Dropped/Disconnected/Expired"), ("app removed", "404 Dropped/Disconnected/Expired"),
        ("no certificate", "401 N/A/N/A/N/A"), ("class", "400 N/A/N/A/N/A"), ("target", "400 N/A/N/A/N/A"),
        ("no XML", "400 N/A/N/A/N/A"), ("other root", "400 N/A/N/A/N/A"), ("other element", "400 N/A/N/A/N/A"),
        ("size", "400 N/A/N/A/N/A"), ("raw size", "400 N/A/N/A/N/A"),
    ])
    func eachRowHasItsAnswer(wrong: String, answer: String) throws {
        var fixture = try MPNSFixture()
        let handle = try fixture.simulator.addDevice([:])
        var request = try fixture.request(to: handle)
        switch wrong {
        case "method": request.method = .put
        case "channel": request.target += "x"
        case "app removed": _ = fixture.simulator.devices.remove(handle, at: Self.now)
        case "no certificate":
            request = try fixture.request(to: try fixture.simulator.addDevice(["serviceName": "push.example.com"]))
        case "class": request.fields["x-notificationclass"] = "32"
        case "target": request.fields["x-windowsphone-target"] = "token"
        case "no XML": request.body = Array("<wp:Notification>".utf8)
        case "other root": request.body = Array("<wp:Toast/>".utf8)
        case "other element": request.body = Array(MPNSFixture.tile.utf8)
        case "size": request.body += Array(repeating: 0x20, count: 3072)
        case "raw size": request = try fixture.request(String(repeating: "x", count: 1025), to: handle)
        default: break
        }
        #expect(Self.verdict(fixture.simulator.answer(request, at: Self.now).response) == answer)
    }

    @Test func aChannelThatWasOpenedWithACertificateWantsItAndHasNoDailyLimit() throws {
        var fixture = try MPNSFixture { $0.dailyLimit = 1 }
        let handle = try fixture.simulator.addDevice(["serviceName": "push.example.com"])
        let request = try fixture.request(to: handle, certificate: fixture.identity)
        for _ in 0..<2 {
            #expect(fixture.simulator.answer(request, at: Self.now).response.status == .ok)
        }
        let other = try fixture.simulator.addDevice(["serviceName": "other.example.com"])
        let refused = try fixture.request(to: other, certificate: fixture.identity)
        #expect(fixture.simulator.answer(refused, at: Self.now).response.status == .unauthorized)
    }

    @Test func aChannelWithoutACertificateHasSoManyADay() throws {
        var fixture = try MPNSFixture { $0.dailyLimit = 2 }
        let request = try fixture.request(to: try fixture.simulator.addDevice([:]))
        let answers = [Duration.zero, .zero, .zero, .seconds(86_400)].map {
            Self.verdict(fixture.simulator.answer(request, at: Self.now + $0).response)
        }
        let (taken, refused) = ("200 Received/Temp Disconnected/Active", "406 Dropped/Temp Disconnected/Active")
        #expect(answers == [taken, taken, refused, taken])
    }

    @Test(arguments: [
        (ServiceFault.Name.unavailable, "503 N/A/N/A/N/A"), (.internalError, "500 N/A/N/A/N/A"),
        (.unregistered, "404 Dropped/Disconnected/Expired"), (.deviceRateLimit, "406 Dropped/Temp Disconnected/Active"),
        (.wrongSender, "401 N/A/N/A/N/A"), (.dropped, "200 Suppressed/Temp Disconnected/Active"),
        ("QueueFull", "200 QueueFull/Temp Disconnected/Active"), ("DeviceInactive", "412 Dropped/Inactive/N/A"),
        ("BadRequest", "400 N/A/N/A/N/A"), (.unknownReason, "418 Whatever/N/A/N/A"),
    ])
    func aFaultIsWordedAsTheServiceWordsIt(name: ServiceFault.Name, answer: String) throws {
        var fixture = try MPNSFixture()
        #expect(MPNSSimulator.faults.contains(name))
        let handle = try fixture.simulator.addDevice([:])
        let response = fixture.simulator.answer(
            try fixture.request(to: handle), fault: ServiceFault(name), at: Self.now
        ).response
        #expect(Self.verdict(response) == answer)
        #expect(fixture.service.outcome(of: response, at: Self.now) != .accepted)
        #expect(fixture.simulator.devices[handle]?.inbox.isEmpty == true)
    }

    @Test func aMarkedChannelAsksForItsFaultAndNeedsNoDevice() throws {
        var fixture = try MPNSFixture()
        let handle = "\(MPNSFixture.origin)/throttledthirdparty/01.00/abc~slow5000"
        let request = try fixture.request(to: handle)
        #expect(fixture.simulator.subject(of: request) == SimulatedSubject(.send, handle: handle, marker: .slow(5000)))
        #expect(fixture.simulator.answer(request, at: Self.now).response.status == .ok)
    }

    @Test func tilesMakeWayForNewerOnesAndToastsQueue() throws {
        var fixture = try MPNSFixture()
        let handle = try fixture.simulator.addDevice([:])
        let newer = MPNSFixture.tile.replacing("news", with: "newer")
        for body in [MPNSFixture.tile, MPNSFixture.toast, "raw", newer, MPNSFixture.toast] {
            _ = fixture.simulator.answer(try fixture.request(body, to: handle), at: Self.now)
        }
        let waiting = fixture.simulator.devices.startListening(handle, at: Self.now)
        #expect(waiting?.map(\.text) == ["hello: you", "newer", "hello: you"])
    }
}
