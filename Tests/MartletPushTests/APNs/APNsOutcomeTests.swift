import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct APNsOutcomeTests {
    private static let dead = Timestamp(milliseconds: 1_690_000_000_123)

    private func outcome(_ status: Int, _ body: String) throws -> Outcome {
        try APNsFixture.service().outcome(
            of: HTTPResponse(HTTPStatus(status), body: .bytes(Array(body.utf8))), at: APNsFixture.now)
    }

    @Test func theNameThatTheDevelopmentGatewayGivesAPushIsKept() throws {
        let id = "7c0f3a5e-0c1d-4d6e-9a51-1f2e3d4c5b6a"
        for (fields, reason) in [
            (["apns-unique-id": id], "apns-unique-id \(id)"), ([:], ""), (["apns-unique-id": "<a b>"], ""),
        ] as [(HTTPFields, String)] {
            let outcome = try APNsFixture.service().outcome(
                of: HTTPResponse(.ok, fields: fields), at: APNsFixture.now)
            #expect(outcome == Outcome(.success, reason: reason, .accepted))
        }
    }

    @Test func aSuccessIsASuccess() throws {
        #expect(try outcome(200, "") == .accepted)
    }

    @Test(arguments: [
        (400, "BadCollapseId", OutcomeName.invalidNotificationFormat, Reaction.refuseAll),
        (400, "BadDeviceToken", .badChannel, .drop(asOf: nil, guarded: true)),
        (400, "BadExpirationDate", .invalidNotificationFormat, .refuseAll),
        (400, "BadMessageId", .invalidNotificationFormat, .refuseAll),
        (400, "BadPriority", .invalidNotificationFormat, .refuseAll),
        (400, "BadTopic", .invalidNotificationFormat, .refuseAll),
        (400, "DeviceTokenNotForTopic", .wrongToken, .drop(asOf: nil, guarded: true)),
        (400, "DuplicateHeaders", .invalidNotificationFormat, .refuseAll),
        (400, "IdleTimeout", .pnsUnavailable, .retryElsewhere),
        (400, "InvalidPushType", .invalidNotificationFormat, .refuseAll),
        (400, "MissingDeviceToken", .badChannel, .refuse),
        (400, "MissingTopic", .invalidNotificationFormat, .refuseAll),
        (400, "PayloadEmpty", .invalidNotificationFormat, .refuseAll),
        (400, "TopicDisallowed", .invalidCredentials, .stop),
        (403, "BadCertificate", .invalidCredentials, .stop),
        (403, "BadCertificateEnvironment", .invalidCredentials, .stop),
        (403, "BadEnvironmentKeyIdInToken", .invalidCredentials, .stop),
        (403, "BadEnvironmentKeyInToken", .invalidCredentials, .stop),
        (403, "ExpiredProviderToken", .invalidCredentials, .reauthorize),
        (403, "Forbidden", .invalidCredentials, .stop),
        (403, "InvalidProviderToken", .invalidCredentials, .reauthorize),
        (403, "MissingProviderToken", .invalidCredentials, .stop),
        (403, "UnrelatedKeyIdInToken", .invalidCredentials, .retryElsewhere),
        (404, "BadPath", .pnsInterfaceError, .refuseAll),
        (405, "MethodNotAllowed", .pnsInterfaceError, .refuseAll),
        (413, "PayloadTooLarge", .invalidNotificationSize, .refuseAll),
        (429, "TooManyProviderTokenUpdates", .throttled, .retry(after: .seconds(60), scope: .platform)),
        (429, "TooManyRequests", .throttled, .retry(after: .seconds(60), scope: .device)),
        (500, "InternalServerError", .pnsServerError, .retry(after: .seconds(900), scope: .device)),
        (503, "ServiceUnavailable", .pnsUnavailable, .retry(after: .seconds(900), scope: .device)),
        (503, "Shutdown", .pnsUnavailable, .retryElsewhere),
    ])
    func everyReasonHasItsReaction(status: Int, reason: String, name: OutcomeName, reaction: Reaction) throws {
        #expect(try outcome(status, #"{"reason":"\#(reason)"}"#) == Outcome(name, reason: reason, reaction))
    }

    @Test(
        "A token is not lost because a push of another kind came to it",
        arguments: [
            ("liveactivity", "DeviceTokenNotForTopic", Reaction.refuse), ("voip", "DeviceTokenNotForTopic", .refuse),
            ("alert", "DeviceTokenNotForTopic", .drop(asOf: nil, guarded: true)),
            ("background", "DeviceTokenNotForTopic", .drop(asOf: nil, guarded: true)),
            ("liveactivity", "BadDeviceToken", .drop(asOf: nil, guarded: true)),
            ("liveactivity", "Unregistered", .drop(asOf: APNsFixture.now, guarded: false)),
        ])
    func aTokenIsNotLostByAPushOfAnotherKind(type: String, reason: String, reaction: Reaction) throws {
        let response = HTTPResponse(
            reason == "Unregistered" ? .gone : .badRequest, body: .bytes(Array(#"{"reason":"\#(reason)"}"#.utf8)))
        let outcome = try APNsFixture.service().outcome(
            of: response, to: APNsFixture.message("{}", ["apns-push-type": type]), at: APNsFixture.now)
        #expect(outcome.reaction == reaction)
        #expect(outcome.reason == reason)
    }

    @Test(arguments: ["Unregistered", "ExpiredToken"])
    func aDeadTokenIsDroppedAsOfTheServicesMoment(reason: String) throws {
        #expect(
            try outcome(410, #"{"reason":"\#(reason)","timestamp":1690000000123}"#)
                == Outcome(.expiredChannel, reason: reason, .drop(asOf: Self.dead, guarded: false)))
        #expect(
            try outcome(410, #"{"reason":"\#(reason)"}"#)
                == Outcome(.expiredChannel, reason: reason, .drop(asOf: APNsFixture.now, guarded: false)))
    }

    @Test(arguments: [
        (400, Reaction.refuse, OutcomeName.pnsInterfaceError), (403, .refuse, .pnsInterfaceError),
        (410, .drop(asOf: APNsFixture.now, guarded: false), .expiredChannel),
        (413, .refuseAll, .invalidNotificationSize),
        (429, .retry(after: .seconds(60), scope: .device), .throttled),
        (500, .retry(after: .seconds(900), scope: .device), .pnsServerError),
        (502, .retry(after: .seconds(900), scope: .device), .pnsServerError),
        (503, .retry(after: .seconds(900), scope: .device), .pnsUnavailable),
        (302, .retry(after: .seconds(900), scope: .device), .pnsInterfaceError),
    ])
    func anUnknownReasonFallsBackToTheStatus(status: Int, reaction: Reaction, name: OutcomeName) throws {
        #expect(
            try outcome(status, #"{"reason":"SomethingNew"}"#) == Outcome(name, reason: "SomethingNew", reaction))
        for body in ["", "<html>proxy</html>", #"{"reason":7}"#, #"{"reason":"a sentence, not a word"}"#] {
            #expect(try outcome(status, body) == Outcome(name, reason: "status \(status)", reaction))
        }
    }

    /// A space in front makes it a form in which the service does not write, and means nothing.
    @Test(arguments: [
        #"{"reason":"Unregistered","timestamp":1690000000123}"#, #"{"reason":"Unregistered","timestamp":0}"#,
        #"{"reason":"Unregistered","timestamp":01}"#, #"{"reason":"Unregistered","timestamp":-1}"#,
        #"{"reason":"Unregistered","timestamp":1.5}"#, #"{"reason":"Unregistered","timestamp":}"#,
        #"{"reason":"Unregistered","timestamp":999999999999999999}"#,
        #"{"reason":"Unregistered","timestamp":9999999999999999999}"#,
        #"{"reason":"Unregistered","timestamp":1690000000123"#, #"{"reason":"Unregistered","timestamp":1}}"#,
        #"{"reason":"Unregistered"}"#, #"{"reason":"Unregistered""#, #"{"reason":"Unregistered"} "#,
        #"{"reason":"Unregistered","reason":"BadTopic"}"#, #"{"reason":"","timestamp":1}"#,
        #"{"reason":"Un\u0072egistered","timestamp":1690000000123}"#,
    ])
    func theUsualFormOfAnAnswerIsReadAsAnyOther(body: String) throws {
        #expect(try outcome(410, body) == outcome(410, " " + body))
    }

    @Test func aBodyOutOfAllProportionIsNotRead() throws {
        let body = #"{"reason":"BadDeviceToken","x":"\#(String(repeating: "y", count: 5000))"}"#
        #expect(try outcome(400, body).reaction == .refuse)
    }
}
