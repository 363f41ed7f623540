import MartletModel
import MartletNetwork
import MartletPush
import Testing

@testable import MartletSimulator

struct FaultRuleTests {
    @Test(arguments: [
        ("slow delay=2000", Fault.slow(.seconds(2))), ("unanswered stored=true", .unanswered(isStored: true)),
        ("clockSkew offset=-600", .clockSkew(.seconds(-600))), ("reset at=stored", .reset(.stored)),
        ("resetStream code=ENHANCE_YOUR_CALM", .resetStream(.enhanceYourCalm)),
        ("streamLimit limits=1,1000,1,0 interval=50", .streamLimits([1, 1000, 1, 0], interval: .milliseconds(50))),
        ("streamLimit limits=1", .streamLimits([1], interval: .seconds(1))),
        ("smallWindow bytes=16 delay=100", .smallWindow(bytes: 16, held: .milliseconds(100))),
        ("blackHole", .blackHole), ("tlsExpired", .tls(.tlsExpired)),
        ("html status=503", .response(ResponseFault(kind: .html, status: 503))),
        ("redirect", .response(ResponseFault(kind: .redirect, status: 302))),
        ("goAway", .goAway(GoAwayFault())), ("goAway none=true", .goAway(GoAwayFault(last: .none))),
        (
            "goAway before=3 code=ENHANCE_YOUR_CALM reason=Stop debug=text then=stay twice=true",
            .goAway(
                GoAwayFault(
                    last: .before(3), code: .enhanceYourCalm, reason: "Stop", debugData: .text, ending: .stay,
                    isDouble: true))
        ),
        ("rateLimit retryAfter=30", .service(ServiceFault(.rateLimit, retryAfter: .seconds(30)))),
        ("rateLimit retryAfter=30 form=date", .service(ServiceFault(.rateLimit, retryAfter: .date(30)))),
        ("unregistered age=60", .service(ServiceFault(.unregistered, age: 60))),
        ("unavailable delivered=true", .service(ServiceFault(.unavailable, isDelivered: true))),
        ("expiredToken sticky=true", .service(ServiceFault(.expiredToken, isSticky: true))),
    ])
    func aFaultIsReadFromAFlag(text: String, fault: Fault) throws {
        #expect(try FaultRule(text: text[...]).fault == fault)
    }

    @Test func textAndJSONSayTheSame() throws {
        let json: JSON = ["fault": "slow", "delay": 5, "every": 2, "probability": .double(0.5), "service": "courier"]
        #expect(try FaultRule(text: " slow delay=5  every=2 probability=0.5 service=courier ") == FaultRule(json))
    }

    @Test(arguments: [
        ("", "name"), ("slow delay", "NAME=VALUE"), ("slow delay=x", "delay"), ("slow delay=-1", "delay"),
        ("slow deley=1", "deley"), ("slow every=0", "every"), ("slow probability=2", "probability"),
        ("slow at=connect", "at"), ("reset at=never", "at"), ("goAway then=rest", "then"),
        ("streamLimit limits=1,x", "limits"), ("resetStream code=7", "code"), ("html status=99", "status"),
        ("unanswered stored=perhaps", "stored"), ("slow endpoint=door", "endpoint"),
        ("slow connection=0", "connection"),
    ])
    func whatIsWrongIsNamed(text: String, word: String) {
        let error = #expect(throws: SimulatorError.self) { try FaultRule(text: text[...]) }
        #expect(error?.description.contains(word) == true)
    }
}
