import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct MPNSOutcomeTests {
    private static let now = MPNSFixture.now

    private func outcome(
        _ status: Int, _ notification: String?, _ device: String?, _ subscription: String?, retryAfter: String? = nil
    ) throws -> Outcome {
        var response = HTTPResponse(HTTPStatus(status))
        response.fields["x-notificationstatus"] = notification
        response.fields["x-deviceconnectionstatus"] = device
        response.fields["x-subscriptionstatus"] = subscription
        response.fields["retry-after"] = retryAfter
        return try MPNS(credential: Credential([:])).outcome(of: response, at: Self.now)
    }

    @Test(
        "Each row of PushServices.md, section 4.3, has its reaction",
        arguments: [
            (
                200, "QueueFull", "Connected", "Active", OutcomeName.channelThrottled,
                Reaction.retry(after: .seconds(240), scope: .device)
            ),
            (200, "Suppressed", "Connected", "Active", .dropped, .refuse),
            (200, "Dropped", "Connected", "Active", .dropped, .refuse),
            (400, "N/A", "N/A", "N/A", .invalidNotificationFormat, .refuse),
            (401, "N/A", "N/A", "N/A", .wrongToken, .drop(asOf: MPNSFixture.now, guarded: true)),
            (404, "Dropped", "Disconnected", "Expired", .expiredChannel, .drop(asOf: MPNSFixture.now, guarded: false)),
            (405, "N/A", "N/A", "N/A", .pnsInterfaceError, .refuseAll),
            (406, "Dropped", "Connected", "Active", .throttled, .retry(after: .seconds(3600), scope: .device)),
            (412, "Dropped", "Inactive", "N/A", .channelDisconnected, .retry(after: .seconds(3600), scope: .device)),
            (500, "N/A", "N/A", "N/A", .pnsServerError, .retry(after: .seconds(60), scope: .device)),
            (503, "N/A", "N/A", "N/A", .pnsUnavailable, .retry(after: .seconds(60), scope: .device)),
        ])
    func eachRowHasItsReaction(
        status: Int, notification: String, device: String, subscription: String, name: OutcomeName, reaction: Reaction
    ) throws {
        let outcome = try outcome(status, notification, device, subscription)
        #expect(outcome.name == name)
        #expect(outcome.reaction == reaction)
        #expect(!outcome.reason.isEmpty && !outcome.reason.contains("N/A"))
    }

    @Test(arguments: ["Connected", "Temp Disconnected"]) func theStatusReceivedMeansAccepted(device: String) throws {
        #expect(try outcome(200, "Received", device, "Active") == .accepted)
    }

    @Test func anAnswerThatIsNotTheServicesIsTriedAgain() throws {
        for (status, word) in [(200, nil), (200, "Perhaps"), (204, "Received")] as [(Int, String?)] {
            let outcome = try outcome(status, word, nil, nil)
            #expect(outcome.name == .pnsInterfaceError)
            #expect(outcome.reaction == .retry(after: .seconds(60), scope: .device))
        }
    }

    @Test func aMissingPageIsBelievedOnlyWhileAllIsWell() throws {
        #expect(try outcome(404, nil, nil, nil).reaction == .drop(asOf: Self.now, guarded: true))
    }

    @Test func aWaitThatTheServiceAsksForHoldsForItsHost() throws {
        let outcome = try outcome(503, "N/A", "N/A", "N/A", retryAfter: "7")
        #expect(outcome.reaction == .retry(after: .seconds(7), scope: .origin))
    }

    @Test func aReasonIsMadeOfTheServicesWords() throws {
        #expect(
            try outcome(404, "Dropped", "Temp Disconnected", "Expired").reason
                == "status 404, Dropped, TempDisconnected, Expired")
        #expect(try outcome(404, "https://x.notify.live.net", "N/A", "N/A").reason == "status 404")
    }
}
