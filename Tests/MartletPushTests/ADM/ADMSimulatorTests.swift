import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct ADMSimulatorTests {
    private static let now = ADMFixture.now

    private static func verdict(_ response: HTTPResponse) -> String {
        let reason = (try? JSON(parsing: response.bytes))?["reason"]?.string
        return reason.map { "\(response.status.code) \($0)" } ?? "\(response.status.code)"
    }

    @Test func whatTheTranslatorSendsTheServiceAcceptsAndTheDeviceShows() throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        let request = try fixture.request(to: handle)
        let response = fixture.simulator.answer(request, at: Self.now).response
        #expect(
            fixture.service.outcome(of: response, at: Self.now) == Outcome(.success, .update(PushHandle(handle))))
        #expect(response.fields["x-amzn-requestid"] != nil)
        let delivery = try #require(fixture.simulator.devices[handle]?.inbox.last)
        #expect(delivery.text == "hello" && delivery.payload == ["data": ["message": "hello"]])
    }

    @Test(
        "Each check of PushServices.md, section 10.7, has its answer",
        arguments: [
            ("path", "404"), ("method", "405"), ("no version", "400 InvalidType"),
            ("no accept type", "400 InvalidType"), ("other content", "400 InvalidData"), ("no JSON", "400 InvalidData"),
            ("no token", "401"), ("unknown token", "401"), ("expired token", "401 AccessTokenExpired"),
            ("unknown id", "400 InvalidRegistrationId"), ("other app", "400 InvalidRegistrationId"),
            ("app removed", "400 Unregistered"),
        ])
    func eachCheckHasItsAnswer(wrong: String, answer: String) throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        var request = try fixture.request(to: handle)
        var now = Self.now
        switch wrong {
        case "path": request.target = "/messaging"
        case "method": request.method = .get
        case "no version": request.fields["x-amzn-type-version"] = nil
        case "no accept type": request.fields["x-amzn-accept-type"] = nil
        case "other content": request.fields["content-type"] = "text/plain"
        case "no JSON": request.body = [1]
        case "no token": request.fields["authorization"] = nil
        case "unknown token": request.fields["authorization"] = "Bearer other"
        case "expired token": now = now + .seconds(3600)
        case "unknown id": request = try fixture.request(to: handle + "x")
        case "other app":
            try fixture.simulator.register(app: ["clientId": "other", "secret": "s"])
            request = try fixture.request(to: try fixture.simulator.addDevice(["app": "other"]))
        case "app removed": _ = fixture.simulator.devices.remove(handle, at: Self.now)
        default: Issue.record("no such check")
        }
        #expect(Self.verdict(fixture.simulator.answer(request, at: now).response) == answer)
    }

    @Test(arguments: [
        (#"{"data":{"a":1}}"#, "400 InvalidData"), (#"{"data":{}}"#, "400 InvalidData"),
        (#"{"data":{},"consolidationKey":"k"}"#, "200"), (#"{"notification":{"title":"t"}}"#, "200"),
        (#"{"data":{"a":"b"},"consolidationKey":""}"#, "400 InvalidConsolidationKey"),
        (#"{"data":{"a":"b"},"expiresAfter":0}"#, "400 InvalidExpiration"),
        (#"{"data":{"a":"b"},"expiresAfter":2678400}"#, "200"),
        (#"{"data":{"a":"b"},"expiresAfter":2678401}"#, "400 InvalidExpiration"),
        (#"{"data":{"a":"b"},"expiresAfter":"60"}"#, "400 InvalidExpiration"),
        (#"{"data":{"a":"b"},"md5":"AAAA"}"#, "400 InvalidChecksum"),
        (#"{"data":{"time":"12:00","from":"Sam","message":"hello"},"md5":"AnmB0w/VVvNZkbeb2+UKDw=="}"#, "200"),
    ])
    func everyMemberIsChecked(body: String, answer: String) throws {
        var fixture = try ADMFixture()
        let request = try fixture.request(body, to: try fixture.simulator.addDevice([:]))
        #expect(Self.verdict(fixture.simulator.answer(request, at: Self.now).response) == answer)
    }

    @Test func aByteTooManyIsTooMany() throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        let frame = #"{"data":{"a":""}}"#.utf8.count
        for (count, answer) in [(6144, "200"), (6145, "413 MessageTooLarge")] {
            let body = #"{"data":{"a":"\#(String(repeating: "x", count: count - frame))"}}"#
            let request = try fixture.request(body, to: handle)
            #expect(Self.verdict(fixture.simulator.answer(request, at: Self.now).response) == answer)
        }
    }

    @Test func tooManyWithinASecondAreTooMany() throws {
        var fixture = try ADMFixture { $0.pushesPerSecond = 1 }
        let request = try fixture.request(to: try fixture.simulator.addDevice([:]))
        _ = fixture.simulator.answer(request, at: Self.now)
        let second = fixture.simulator.answer(request, at: Self.now).response
        #expect(Self.verdict(second) == "429 MaxRateExceeded" && second.fields["retry-after"] == "1")
    }

    @Test func everyReasonOfTheServiceCanBeAskedForAndNothingArrives() throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        let request = try fixture.request(to: handle)
        for (reason, status) in ADMRefusal.statuses {
            let fault = ServiceFault(ServiceFault.Name(rawValue: reason), retryAfter: .seconds(3))
            #expect(ADMSimulator.faults.contains(fault.name))
            let response = fixture.simulator.answer(request, fault: fault, at: Self.now).response
            #expect(Self.verdict(response) == "\(status.code) \(reason)" && response.fields["retry-after"] == "3")
        }
        for (name, answer) in [
            (ServiceFault.Name.rateLimit, "429 MaxRateExceeded"), (.internalError, "500"), (.unavailable, "503"),
            (.unregistered, "400 Unregistered"), (.unknownHandle, "400 InvalidRegistrationId"),
            (.expiredToken, "401 AccessTokenExpired"), (.unknownReason, "400 NothingYouKnow"),
        ] {
            let response = fixture.simulator.answer(request, fault: ServiceFault(name), at: Self.now).response
            #expect(Self.verdict(response) == answer)
        }
        #expect(fixture.simulator.devices[handle]?.inbox.isEmpty == true)
    }

    @Test func aReplacedIDGoesOnWorkingAndAnswersWithTheOther() throws {
        var fixture = try ADMFixture()
        let old = try fixture.simulator.addDevice([:])
        let request = try fixture.request(to: old)
        func named(_ response: HTTPResponse) throws -> String? {
            try JSON(parsing: response.bytes)["registrationID"]?.string
        }
        let fault = ServiceFault(.replacedHandle)
        let replaced = fixture.simulator.answer(request, fault: fault, at: Self.now).response
        let new = try #require(try named(replaced))
        #expect(new != old)
        #expect(try named(fixture.simulator.answer(request, at: Self.now).response) == new)
        let next = try fixture.request(to: new)
        #expect(try named(fixture.simulator.answer(next, at: Self.now).response) == new)
        #expect(fixture.simulator.devices[new]?.accepted == 3)
    }

    @Test func aMarkedIDAsksForItsFaultAndNeedsNoDevice() throws {
        var fixture = try ADMFixture()
        let request = try fixture.request(to: "amzn1.id~throttle3")
        #expect(fixture.simulator.subject(of: request).marker == .throttle(3))
        #expect(fixture.simulator.subject(of: request).handle == "amzn1.id~throttle3")
        #expect(fixture.simulator.answer(request, at: Self.now).response.status == .ok)
    }

    @Test func aConsolidationKeyReplacesWhatWaits() throws {
        var fixture = try ADMFixture()
        let handle = try fixture.simulator.addDevice([:])
        for (text, key) in [("1", "a"), ("2", "b"), ("3", "a")] {
            let body = #"{"data":{"message":"\#(text)"},"consolidationKey":"\#(key)"}"#
            _ = fixture.simulator.answer(try fixture.request(body, to: handle), at: Self.now)
        }
        let waiting = fixture.simulator.devices.startListening(handle, at: Self.now)
        #expect(waiting?.map(\.text) == ["2", "3"])
    }
}
