import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WebPushOutcomeTests {
    private func outcome(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) throws -> Outcome {
        try WebPushFixture().service.outcome(
            of: HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))),
            at: WebPushFixture.now)
    }

    @Test(arguments: [200, 201, 202]) func acceptedIsAccepted(status: Int) throws {
        #expect(try outcome(status) == .accepted)
    }

    @Test(arguments: [
        (404, OutcomeName.expiredChannel, Reaction.drop(asOf: WebPushFixture.now, guarded: false)),
        (410, .expiredChannel, .drop(asOf: WebPushFixture.now, guarded: false)),
        (400, .invalidNotificationFormat, .refuse),
        (401, .invalidCredentials, .retry(after: .seconds(900), scope: .device)),
        (403, .invalidCredentials, .retry(after: .seconds(900), scope: .device)),
        (405, .pnsInterfaceError, .refuse),
        (406, .throttled, .retry(after: .seconds(60), scope: .device)),
        (413, .invalidNotificationSize, .refuse),
        (429, .throttled, .retry(after: .seconds(60), scope: .device)),
        (301, .pnsInterfaceError, .refuse),
        (308, .pnsInterfaceError, .refuse),
        (500, .pnsServerError, .retry(after: .seconds(60), scope: .device)),
        (502, .pnsServerError, .retry(after: .seconds(60), scope: .device)),
        (503, .pnsUnavailable, .retry(after: .seconds(60), scope: .device)),
        (504, .pnsServerError, .retry(after: .seconds(60), scope: .device)),
        (204, .pnsInterfaceError, .refuse),
    ])
    func everyStatusHasItsReaction(status: Int, name: OutcomeName, reaction: Reaction) throws {
        #expect(try outcome(status) == Outcome(name, reason: "status \(status)", reaction))
    }

    @Test("An answer of a subscription's endpoint affects no other device")
    func noAnswerTouchesOtherDevices() throws {
        for status in 100..<600 {
            switch try outcome(status).reaction {
            case .stop, .refuseAll, .reauthorize, .retry(_, scope: .platform): Issue.record("\(status)")
            default: break
            }
        }
    }

    @Test(arguments: [
        ("120", 120), ("0", 0), ("Tue, 14 Nov 2023 22:15:20 GMT", 120), ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("Tuesday, 14-Nov-23 22:15:20 GMT", 120),
        ("99999999999", 28 * 86_400),
    ])
    func theTimeThatAServiceAsksForHoldsForItsOrigin(text: String, seconds: Int) throws {
        for status in [429, 503] {
            let reaction = try outcome(status, "", ["retry-after": text]).reaction
            #expect(reaction == .retry(after: .seconds(seconds), scope: .origin))
        }
    }

    @Test(arguments: ["-5", "soon", "", "Tuesday, 14-Nov-23 GMT", "Tue, 14 Foo 2023 22:15:20 GMT"])
    func aTimeThatCannotBeReadIsNone(text: String) throws {
        #expect(try outcome(429, "", ["retry-after": text]).reaction == .retry(after: .seconds(60), scope: .device))
    }

    @Test(arguments: [
        (403, #"{"reason":"VapidPkHashMismatch"}"#, "VapidPkHashMismatch"),
        (404, #"{"code":404,"errno":102,"error":"Not Found"}"#, "status 404, errno 102"),
        (403, "<html>invalid JWT</html>", "status 403"), (400, #"{"reason":"no word"}"#, "status 400"),
    ])
    func theReasonIsTheServicesOwnWordWhereItIsAWord(status: Int, body: String, reason: String) throws {
        #expect(try outcome(status, body).reason == reason)
    }
}
