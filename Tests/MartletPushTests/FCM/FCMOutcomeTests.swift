import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct FCMOutcomeTests {
    private static let now = FCMFixture.now

    private func outcome(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) throws -> Outcome {
        try FCMFixture().service.outcome(
            of: HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))), at: Self.now)
    }

    private func error(
        _ status: String, code: String? = nil, info: String? = nil, message: String = "", quota: String? = nil,
        field: String? = nil
    ) -> String {
        var details: [JSON] = []
        if let field {
            details.append(["@type": .string(FCMAnswer.requestType), "fieldViolations": [["field": .string(field)]]])
        }
        if let info { details.append(["@type": .string(FCMAnswer.infoType), "reason": .string(info)]) }
        if let quota {
            details.append(["@type": .string(FCMAnswer.quotaType), "violations": [["description": .string(quota)]]])
        }
        if let code { details.append(["@type": .string(FCMAnswer.errorType), "errorCode": .string(code)]) }
        let body: JSON = [
            "error": ["status": .string(status), "message": .string(message), "details": .array(details)]
        ]
        return body.text
    }

    @Test func acceptedIsAccepted() throws {
        #expect(try outcome(200, #"{"name":"projects/p/messages/1"}"#) == .accepted)
        let strange = Outcome(
            .pnsInterfaceError, reason: "status 200", .retry(after: .seconds(10), scope: .device))
        for body in ["", "<html>", "{}"] { #expect(try outcome(200, body) == strange) }
    }

    @Test(arguments: [
        (404, "NOT_FOUND", "UNREGISTERED", OutcomeName.expiredChannel, Reaction.drop(asOf: now, guarded: false)),
        (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", .wrongToken, .drop(asOf: nil, guarded: true)),
        (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", .invalidNotificationFormat, .refuseAll),
        (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", .invalidCredentials, .refuse),
        (401, "UNAUTHENTICATED", "APNS_AUTH_ERROR", .invalidCredentials, .refuse),
        (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", .throttled, .retry(after: .seconds(60), scope: .platform)),
        (500, "INTERNAL", "INTERNAL", .pnsServerError, .retry(after: .seconds(10), scope: .device)),
        (503, "UNAVAILABLE", "UNAVAILABLE", .pnsUnavailable, .retry(after: .seconds(10), scope: .device)),
    ])
    func theServicesOwnCodeDecides(
        status: Int, word: String, code: String, name: OutcomeName, reaction: Reaction
    ) throws {
        #expect(try outcome(status, error(word, code: code)) == Outcome(name, reason: code, reaction))
        // Whatever the status says.
        #expect(try outcome(418, error("TEAPOT", code: code)) == Outcome(name, reason: code, reaction))
    }

    @Test(arguments: [
        ("ACCESS_TOKEN_EXPIRED", OutcomeName.invalidCredentials, Reaction.reauthorize),
        ("CREDENTIALS_MISSING", .invalidCredentials, .reauthorize),
        ("ACCESS_TOKEN_TYPE_UNSUPPORTED", .invalidCredentials, .reauthorize),
        ("SERVICE_DISABLED", .invalidCredentials, .stop),
        ("RATE_LIMIT_EXCEEDED", .throttled, .retry(after: .seconds(60), scope: .platform)),
    ])
    func thenTheReasonThatAllOfGooglesServicesGive(info: String, name: OutcomeName, reaction: Reaction) throws {
        #expect(try outcome(418, error("TEAPOT", info: info)) == Outcome(name, reason: info, reaction))
    }

    @Test(arguments: [
        (400, "INVALID_ARGUMENT", OutcomeName.invalidNotificationFormat, Reaction.refuseAll),
        (401, "UNAUTHENTICATED", .invalidCredentials, .reauthorize),
        (403, "PERMISSION_DENIED", .invalidCredentials, .stop),
        (404, "NOT_FOUND", .invalidCredentials, .stop),
        (429, "RESOURCE_EXHAUSTED", .throttled, .retry(after: .seconds(60), scope: .platform)),
        (500, "INTERNAL", .pnsServerError, .retry(after: .seconds(10), scope: .device)),
        (503, "UNAVAILABLE", .pnsUnavailable, .retry(after: .seconds(10), scope: .device)),
    ])
    func thenTheStatusInTheBody(status: Int, word: String, name: OutcomeName, reaction: Reaction) throws {
        #expect(try outcome(status, error(word)) == Outcome(name, reason: word, reaction))
        let unknown = try outcome(status, error(word, code: "UNSPECIFIED_ERROR"))
        #expect(unknown == Outcome(name, reason: "UNSPECIFIED_ERROR", reaction))
    }

    @Test(
        "At last the status of HTTP, where something else answers",
        arguments: [
            (400, OutcomeName.pnsInterfaceError, Reaction.refuse),
            (401, .invalidCredentials, .reauthorize), (403, .invalidCredentials, .stop),
            (404, .invalidCredentials, .stop),
            (413, .invalidNotificationSize, .refuseAll),
            (429, .throttled, .retry(after: .seconds(60), scope: .platform)),
            (500, .pnsServerError, .retry(after: .seconds(10), scope: .device)),
            (502, .pnsServerError, .retry(after: .seconds(10), scope: .device)),
            (503, .pnsUnavailable, .retry(after: .seconds(10), scope: .device)),
            (504, .pnsServerError, .retry(after: .seconds(10), scope: .device)),
            (302, .pnsInterfaceError, .refuse),
        ])
    func thenTheStatusOfHTTP(status: Int, name: OutcomeName, reaction: Reaction) throws {
        for body in ["<html>Error</html>", "", "[]", #"{"error":{"status":"no word"}}"#] {
            #expect(try outcome(status, body) == Outcome(name, reason: "status \(status)", reaction))
        }
    }

    @Test func aTokenThatIsNoneIsDroppedWhileOthersAreReached() throws {
        let drop = Reaction.drop(asOf: nil, guarded: true)
        let text = error(
            "INVALID_ARGUMENT", code: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token")
        #expect(try outcome(400, text) == Outcome(.badChannel, reason: "INVALID_ARGUMENT", drop))
        let field = error("INVALID_ARGUMENT", message: "Request contains an invalid argument.", field: "message.token")
        #expect(try outcome(400, field) == Outcome(.badChannel, reason: "INVALID_ARGUMENT", drop))
        let other = error("INVALID_ARGUMENT", message: "Invalid JSON payload received.", field: "message.data")
        #expect(try outcome(400, other).reaction == .refuseAll)
    }

    @Test func aMessageThatIsTooLargeIsCountedAsThat() throws {
        let text = error("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: "Message is too big")
        #expect(
            try outcome(400, text) == Outcome(.invalidNotificationSize, reason: "INVALID_ARGUMENT", .refuseAll))
    }

    @Test func theQuotaOfOneDeviceDoesNotAffectOthers() throws {
        let text = error("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", quota: "Device message rate exceeded.")
        #expect(try outcome(429, text).reaction == .retry(after: .seconds(60), scope: .device))
        #expect(try outcome(429, text, ["retry-after": "5"]).reaction == .retry(after: .seconds(5), scope: .device))
    }

    @Test(arguments: [("120", 120), ("Tue, 14 Nov 2023 22:15:20 GMT", 120)])
    func theTimeThatTheServiceAsksForIsObeyed(text: String, seconds: Int) throws {
        let wait: Duration = .seconds(seconds)
        for (status, code, scope) in [
            (429, "QUOTA_EXCEEDED", Reaction.Scope.platform), (503, "UNAVAILABLE", .platform),
            (500, "INTERNAL", .device),
        ] {
            let reaction = try outcome(status, error("", code: code), ["retry-after": text]).reaction
            #expect(reaction == .retry(after: wait, scope: scope))
        }
        let quota = error("RESOURCE_EXHAUSTED", info: "RATE_LIMIT_EXCEEDED")
        #expect(try outcome(429, quota, ["retry-after": text]).reaction == .retry(after: wait, scope: .platform))
        #expect(
            try outcome(429, quota, ["retry-after": "1"]).reaction == .retry(after: .seconds(60), scope: .platform),
            "the project's quota is filled up every minute")
    }

    @Test func everyRefusalOfTheSimulatorIsUnderstood() throws {
        let reactions: [(FCMRefusal, Reaction)] = [
            (.badToken, .drop(asOf: nil, guarded: true)), (.invalidArgument, .refuseAll), (.tooBig, .refuseAll),
            (.unreadable, .refuseAll), (.noCredential, .reauthorize), (.badCredential, .reauthorize),
            (.expiredCredential, .reauthorize), (.otherServicesCredential, .refuse), (.disabled, .stop),
            (.otherSender, .drop(asOf: nil, guarded: true)), (.noPermission("p"), .stop),
            (.unregistered, .drop(asOf: Self.now, guarded: false)), (.noProject, .stop), (.notServed, .stop),
            (.sendRequests, .retry(after: .seconds(60), scope: .platform)),
            (.projectQuota, .retry(after: .seconds(60), scope: .platform)),
            (.deviceQuota, .retry(after: .seconds(60), scope: .device)),
            (.internalError, .retry(after: .seconds(10), scope: .device)),
            (.unspecified, .retry(after: .seconds(10), scope: .device)),
            (.unavailable, .retry(after: .seconds(10), scope: .device)), (.unknownReason, .refuse),
        ]
        let service = try FCMFixture().service
        for (refusal, reaction) in reactions {
            #expect(service.outcome(of: refusal.response, at: Self.now).reaction == reaction, "\(refusal.name)")
        }
    }
}
