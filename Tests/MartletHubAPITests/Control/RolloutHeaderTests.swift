import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

struct RolloutHeaderTests {
    @Test(
        "Every spelling of a roll-out is read",
        arguments: [
            ("rate=500", Rollout(.rate(500))),
            (" rate=1 ", Rollout(.rate(1))),
            ("over=PT10M", Rollout(.over(.seconds(600)))),
            ("over=P28D", Rollout(.over(.seconds(28 * 86_400)))),
            ("rate=500; halt=5%", Rollout(.rate(500), halt: Rollout.Halt(share: 500, answers: 100))),
            ("rate=500;halt=0%/1", Rollout(.rate(500), halt: Rollout.Halt(share: 0, answers: 1))),
            ("over=PT1S; halt=12.5%/200", Rollout(.over(.seconds(1)), halt: Rollout.Halt(share: 1250, answers: 200))),
            ("rate=1000000;halt=99.99%", Rollout(.rate(1_000_000), halt: Rollout.Halt(share: 9999))),
            ("halt=5%; rate=500", Rollout(.rate(500), halt: Rollout.Halt(share: 500))),
            ("first=1000", Rollout(nil, sample: .size(1000))),
            ("first=1", Rollout(nil, sample: .size(1))),
            ("first=0.01%", Rollout(nil, sample: .share(1))),
            ("first=50%", Rollout(nil, sample: .share(5000))),
            (
                "first=1000; wait=PT10M; rate=500; halt=2%",
                Rollout(
                    .rate(500), halt: Rollout.Halt(share: 200, statesAnswers: false), sample: .size(1000),
                    wait: .seconds(600))
            ),
            (
                "halt=2%/100; over=PT1H; first=1.5%; wait=P7D",
                Rollout(
                    .over(.seconds(3600)), halt: Rollout.Halt(share: 200), sample: .share(150),
                    wait: .seconds(7 * 86_400))
            ),
        ])
    func everySpellingIsRead(text: String, rollout: Rollout) throws {
        #expect(try RolloutHeader.rollout(text) == rollout)
        #expect(try RolloutHeader.rollout(rollout.description) == rollout)
    }

    @Test(
        "What is none is refused with a sentence that says what one is",
        arguments: [
            "", "500", "rate=", "rate=0", "rate=-1", "rate=1000001", "rate=5.5", "rate=5/s", "over=10m", "over=PT0S",
            "over=P29D", "over=-PT1S", "rate=5,over=PT1S", "rate=5; halt=5%; halt=6%", "rate=99999999999999999999",
        ])
    func whatIsNoneIsRefused(text: String) {
        #expect {
            _ = try RolloutHeader.rollout(text)
        } throws: { ($0 as? HubAPIError)?.sentence.contains("Martlet-Rollout") == true }
    }

    @Test(
        "Each mistake in a canary has its own message",
        arguments: [
            ("first=0", "first= takes a number"), ("first=1e3", "first= takes a number"),
            ("first=100001", "first= takes a number"), ("first=0%", "first= takes a number"),
            ("first=50.01%", "first= takes a number"), ("first=", "first= takes a number"),
            ("wait=PT10M", "wait= without first="), ("rate=5; wait=PT10M", "wait= without first="),
            ("first=10; wait=PT59S", "wait= takes"), ("first=10; wait=P8D", "wait= takes"),
            ("first=10; wait=10m", "wait= takes"), ("first=10; first=20", "first= twice"),
            ("frist=10", "the unknown parameter 'frist=10'"), ("first", "the unknown parameter 'first'"),
            ("first=10; rate=1; over=PT1M", "rate= and over="), ("halt=5%", "none of first=, rate= and over="),
            ("first=10;", "the unknown parameter ''"), ("first=10; Wait=PT10M", "the unknown parameter 'Wait=PT10M'"),
        ])
    func eachMistakeHasItsSentence(text: String, words: String) {
        #expect {
            _ = try RolloutHeader.rollout(text)
        } throws: { ($0 as? HubAPIError)?.sentence.contains(words) == true }
    }

    @Test(arguments: [
        "halt=", "halt=5", "halt=%", "halt=100%", "halt=-1%", "halt=5.%", "halt=5.125%", "halt=.5%",
        "halt=5%/", "halt=5%/0", "halt=5%/1000001", "halt=5%/1/2",
    ])
    func aHaltThatIsNoneIsRefused(text: String) {
        #expect {
            _ = try RolloutHeader.rollout("rate=5; \(text)")
        } throws: { ($0 as? HubAPIError)?.sentence.contains("halt= takes a share") == true }
    }

    @Test(arguments: ["", "halt", "stop=5%", "over=PT1M", "rate=6"])
    func aPartIsKnownAndThereOnce(text: String) {
        #expect(throws: HubAPIError.self) { _ = try RolloutHeader.rollout("rate=5; \(text)") }
    }

    @Test func twoHeadersAreRefusedAndNoneIsNone() throws {
        #expect(try RolloutHeader.read(from: [:]) == nil)
        var fields: HTTPFields = ["martlet-rollout": "rate=5"]
        #expect(try RolloutHeader.read(from: fields) == Rollout(.rate(5)))
        fields.append(HTTPField("martlet-rollout", "rate=6"))
        #expect(throws: HubAPIError.self) { _ = try RolloutHeader.read(from: fields) }
    }

    @Test func aSendKeepsItsRollOut() async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = ["servicebusnotification-format": "pigeon", "martlet-rollout": "rate=5; halt=1%"]
        let response = try await fixture.send(.post, "/demo/messages", as: "send", fields: fields, body: "coo")
        #expect(response.status == .created)
        let stored = try await fixture.storage.unfinished(after: .none, limit: 10)
        #expect(stored.map(\.delivery.notification.rollout) == [Rollout(.rate(5), halt: Rollout.Halt(share: 100))])
    }

    @Test func aRollOutThatOutlivesItsNotificationIsRefusedAndNothingIsStored() async throws {
        let fixture = try await HubFixture()
        let fields: HTTPFields = ["servicebusnotification-format": "pigeon", "martlet-rollout": "over=P27D"]
        let response = try await fixture.send(.post, "/demo/messages", as: "send", fields: fields, body: "coo")
        #expect(response.status == .badRequest)
        #expect(response.text.contains("would take longer than the notification lives"))
        #expect(try await fixture.storage.unfinished(after: .none, limit: 10).isEmpty)
    }
}
