import MartletHTTP
import MartletModel

/// An answer of the service with a status other than 200, or an error answer of the token endpoint (PushServices.md,
/// sections 2.1 and 2.5).
struct FCMRefusal: Error, Equatable {
    var status: HTTPStatus
    /// The name of the refusal. In `FCMSimulator.counters`, it has the prefix `refused.`.
    var name: String
    var fields: HTTPFields
    var body: [UInt8]

    private init(_ status: HTTPStatus, _ name: String, contentType: String, _ body: [UInt8]) {
        self.status = status
        self.name = name
        fields = ["content-type": contentType]
        self.body = body
    }

    var response: HTTPResponse { HTTPResponse(status, fields: fields, body: .bytes(body)) }

    // MARK: The service

    /// Creates an error in Google's envelope.
    /// - Parameters:
    ///   - code: FCM's own error code; nil omits the detail that contains it.
    ///   - details: Further details.
    static func service(
        _ httpStatus: HTTPStatus, _ status: String, code: String? = nil, _ message: String, details: [JSON] = []
    ) -> FCMRefusal {
        let own: [JSON] = code.map { [["@type": .string(FCMAnswer.errorType), "errorCode": .string($0)]] } ?? []
        var error: [String: JSON] = [
            "code": .integer(Int64(httpStatus.code)), "message": .string(message), "status": .string(status),
        ]
        if !(own + details).isEmpty { error["details"] = .array(own + details) }
        let body: JSON = ["error": .object(error)]
        return FCMRefusal(httpStatus, code ?? status, contentType: "application/json; charset=UTF-8", body.bytes)
    }

    /// The answer for an unknown path: a page in HTML.
    static let notServed = FCMRefusal(
        .notFound, "notServed", contentType: "text/html; charset=UTF-8",
        Array("<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>404. That’s an error.".utf8))

    /// Creates the refusal of a request that cannot be parsed, or that has a member with an unknown name or of the
    /// wrong type.
    static func violation(_ field: String, _ message: String) -> FCMRefusal {
        let violation: JSON = ["field": .string(field), "description": .string(message)]
        return service(
            .badRequest, "INVALID_ARGUMENT", message,
            details: [["@type": .string(FCMAnswer.requestType), "fieldViolations": .array([violation])]])
    }

    static let unreadable = violation("", "Invalid JSON payload received. Unexpected token.")
    static let invalidArgument = service(
        .badRequest, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", "Request contains an invalid argument.")
    static let tooBig = service(.badRequest, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", "Message is too big")
    static let badToken = service(
        .badRequest, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT",
        "The registration token is not a valid FCM registration token")
    static let noCredential = service(
        .unauthorized, "UNAUTHENTICATED",
        "Request is missing required authentication credential. Expected OAuth 2 access token.",
        details: [info("CREDENTIALS_MISSING")])
    static let badCredential = service(
        .unauthorized, "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token.")
    static let expiredCredential = service(
        .unauthorized, "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token.",
        details: [info("ACCESS_TOKEN_EXPIRED")])
    static let otherServicesCredential = service(
        .unauthorized, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR", "Auth error from APNS or Web Push Service")
    static let otherSender = service(
        .forbidden, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH", "SenderId mismatch")
    static let disabled = service(
        .forbidden, "PERMISSION_DENIED", "Firebase Cloud Messaging API has not been used in this project before.",
        details: [info("SERVICE_DISABLED")])
    static let unregistered = service(
        .notFound, "NOT_FOUND", code: "UNREGISTERED", "Requested entity was not found.")
    static let noProject = service(.notFound, "NOT_FOUND", "Requested entity was not found.")
    static let deviceQuota = service(
        .tooManyRequests, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", "Device message rate exceeded.",
        details: [quota("device", "Device message rate exceeded.")])
    static let projectQuota = service(
        .tooManyRequests, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", "Message rate exceeded.",
        details: [quota("project", "Message rate exceeded.")])
    static let internalError = service(
        .internalServerError, "INTERNAL", code: "INTERNAL", "Internal error encountered.")
    static let unavailable = service(
        .serviceUnavailable, "UNAVAILABLE", code: "UNAVAILABLE", "The service is currently unavailable.")
    static let unspecified = service(
        .internalServerError, "INTERNAL", code: "UNSPECIFIED_ERROR", "Internal error encountered.")
    static let unknownReason = service(.badRequest, "NOTHING_YOU_KNOW", code: "NOTHING_YOU_KNOW", "Never heard of.")

    static func noPermission(_ project: String) -> FCMRefusal {
        service(
            .forbidden, "PERMISSION_DENIED",
            "Permission 'cloudmessaging.messages.create' denied on resource "
                + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).")
    }

    /// The answer that the real service gives if a project sends too many messages per minute.
    ///
    /// This answer contains no FCM error code.
    static let sendRequests = service(
        .tooManyRequests, "RESOURCE_EXHAUSTED",
        "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service "
            + "'fcm.googleapis.com' for consumer 'project_number:123456789012'.",
        details: [
            info(
                "RATE_LIMIT_EXCEEDED",
                [
                    "quota_metric": "fcm.googleapis.com/send_requests", "quota_limit": "SendsPerMinutePerProject",
                    "quota_unit": "1/min/{project}",
                ])
        ])

    private static func info(_ reason: String, _ metadata: [String: JSON] = [:]) -> JSON {
        var metadata = metadata
        metadata["service"] = "fcm.googleapis.com"
        return [
            "@type": .string(FCMAnswer.infoType), "reason": .string(reason), "domain": "googleapis.com",
            "metadata": .object(metadata),
        ]
    }

    private static func quota(_ subject: String, _ description: String) -> JSON {
        let violation: JSON = ["subject": .string(subject), "description": .string(description)]
        return ["@type": .string(FCMAnswer.quotaType), "violations": .array([violation])]
    }

    // MARK: Access tokens

    /// Creates an error of the token endpoint (RFC 6749, section 5.2).
    static func token(_ error: String, _ description: String, _ status: HTTPStatus = .badRequest) -> FCMRefusal {
        let body: JSON = ["error": .string(error), "error_description": .string(description)]
        return FCMRefusal(status, error, contentType: "application/json; charset=utf-8", body.bytes)
    }

    static let badSignature = token("invalid_grant", "Invalid JWT Signature.")
    static let noAccount = token("invalid_grant", "Invalid grant: account not found")
    static let badTimes = token(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and "
            + "exp values in the JWT claim.")
    static let badAudience = token("invalid_grant", "Invalid JWT: Failed audience check.")
    static let badScope = token("invalid_scope", "Invalid OAuth scope or ID token audience provided.")

    /// An answer of the token endpoint with status 200 that is an HTML page instead of JSON.
    static let noJSON = FCMRefusal(
        .ok, "malformedToken", contentType: "text/html; charset=UTF-8", Array("<html>hello</html>".utf8))
}
