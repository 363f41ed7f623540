import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WNSOutcomeTests {
    private func outcome(_ status: Int, _ fields: HTTPFields = [:]) throws -> Outcome {
        try WNSFixture.service().outcome(of: HTTPResponse(HTTPStatus(status), fields: fields), at: WNSFixture.now)
    }

    @Test(arguments: ["x-wns-status", "x-wns-notificationstatus"])
    func successIsNotAlwaysSuccess(field: String) throws {
        #expect(try outcome(200, [field: "received"]) == .accepted)
        #expect(try outcome(200, [field: "dropped"]) == Outcome(.dropped, reason: "dropped", .refuse))
        #expect(
            try outcome(200, [field: "ChannelThrottled"])
                == Outcome(
                    .channelThrottled, reason: "channelthrottled", .retry(after: .seconds(600), scope: .device)))
    }

    @Test func anAnswerThatIsNotTheServicesIsTriedAgain() throws {
        for (status, fields) in [(200, [:]), (200, ["x-wns-status": "maybe"]), (204, [:])] as [(Int, HTTPFields)] {
            let outcome = try outcome(status, fields)
            #expect(outcome.name == .pnsInterfaceError)
            #expect(outcome.reaction == .retry(after: .seconds(60), scope: .device))
        }
    }

    @Test(arguments: [
        (400, OutcomeName.invalidNotificationFormat, Reaction.refuseAll),
        (401, .invalidCredentials, .reauthorize),
        (403, .wrongToken, .drop(asOf: WNSFixture.now, guarded: true)),
        (404, .badChannel, .drop(asOf: WNSFixture.now, guarded: false)),
        (405, .pnsInterfaceError, .refuseAll),
        (406, .throttled, .retry(after: .seconds(60), scope: .platform)),
        (410, .expiredChannel, .drop(asOf: WNSFixture.now, guarded: true)),
        (412, .channelDisconnected, .retry(after: .seconds(60), scope: .device)),
        (413, .invalidNotificationSize, .refuseAll),
        (429, .throttled, .retry(after: .seconds(60), scope: .platform)),
        (302, .pnsInterfaceError, .refuse), (418, .pnsInterfaceError, .refuse),
        (500, .pnsServerError, .retry(after: .seconds(10), scope: .device)),
        (502, .pnsServerError, .retry(after: .seconds(10), scope: .device)),
        (503, .pnsUnavailable, .retry(after: .seconds(60), scope: .platform)),
    ])
    func everyStatusHasItsReaction(status: Int, name: OutcomeName, reaction: Reaction) throws {
        #expect(try outcome(status) == Outcome(name, reason: "status \(status)", reaction))
    }

    @Test(arguments: [("retry-after", 406), ("retry-after", 503), ("retry-after", 429), ("x-wns-continue-after", 406)])
    func everythingWaitsAsLongAsTheServiceSays(field: String, status: Int) throws {
        #expect(try outcome(status, [field: "7"]).reaction == .retry(after: .seconds(7), scope: .platform))
    }

    @Test func anAppThatIsShutOutStopsAndLosesNoChannel() throws {
        let outcome = try outcome(410, ["x-wns-error-description": "Domain Blocked"])
        #expect(outcome == Outcome(.invalidCredentials, reason: "Domain Blocked", .stop))
    }

    @Test func aReasonIsShownUnlessItCouldHoldAChannel() throws {
        let spoken = try outcome(400, ["x-wns-error-description": "X-WNS-Type is missing, sorry."])
        #expect(spoken.reason == "X-WNS-Type is missing, sorry.")
        let url = try outcome(404, ["x-wns-error-description": "https://db5.notify.windows.com/?token=A is gone"])
        #expect(url.reason == "status 404")
    }
}
