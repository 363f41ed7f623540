import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct ADMOutcomeTests {
    private func outcome(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) throws -> Outcome {
        try ADMFixture.service().outcome(
            of: HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))), at: ADMFixture.now)
    }

    @Test func successNamesTheRegistrationIDFromThenOn() throws {
        #expect(
            try outcome(200, #"{"registrationID":"new","requestID":"1"}"#)
                == Outcome(.success, .update(PushHandle("new"))))
        #expect(try outcome(200, #"{"requestID":"1"}"#) == .accepted)
    }

    @Test func anAnswerThatIsNotTheServicesIsTriedAgain() throws {
        for (status, body) in [(200, "<html>"), (200, ""), (204, "")] {
            let outcome = try outcome(status, body)
            #expect(outcome.name == .pnsInterfaceError)
            #expect(outcome.reaction == .retry(after: .seconds(60), scope: .device))
        }
    }

    @Test(arguments: [
        (400, "InvalidRegistrationId", OutcomeName.badChannel, Reaction.drop(asOf: ADMFixture.now, guarded: true)),
        (400, "Unregistered", .expiredChannel, .drop(asOf: ADMFixture.now, guarded: false)),
        (400, "InvalidData", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidConsolidationKey", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidExpiration", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidType", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidChecksum", .invalidNotificationFormat, .refuse),
        (400, "NothingYouKnow", .pnsInterfaceError, .refuse), (400, "", .pnsInterfaceError, .refuse),
        (401, "AccessTokenExpired", .invalidCredentials, .reauthorize), (401, "", .invalidCredentials, .reauthorize),
        (404, "", .badChannel, .drop(asOf: ADMFixture.now, guarded: true)),
        (413, "MessageTooLarge", .invalidNotificationSize, .refuseAll),
        (429, "MaxRateExceeded", .throttled, .retry(after: .seconds(60), scope: .platform)),
        (302, "", .pnsInterfaceError, .refuse),
        (500, "", .pnsServerError, .retry(after: .seconds(60), scope: .device)),
        (503, "", .pnsUnavailable, .retry(after: .seconds(60), scope: .device)),
    ])
    func everyAnswerHasItsReaction(status: Int, reason: String, name: OutcomeName, reaction: Reaction) throws {
        let expected = Outcome(name, reason: reason.isEmpty ? "status \(status)" : reason, reaction)
        #expect(try outcome(status, reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#) == expected)
    }

    @Test(arguments: [429, 500, 503]) func everythingWaitsAsLongAsTheServiceSays(status: Int) throws {
        for text in ["120", "Tue, 14 Nov 2023 22:15:20 GMT"] {
            #expect(
                try outcome(status, "", ["retry-after": text]).reaction
                    == .retry(after: .seconds(120), scope: .platform))
        }
    }
}
