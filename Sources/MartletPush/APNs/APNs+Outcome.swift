public import MartletCore
public import MartletHTTP
public import MartletModel

extension APNs {
    /// The wait before the first retry after an internal error of the service. The wait doubles with each further
    /// retry.
    static let faultWait: Duration = .seconds(900)
    /// The wait before the first retry after too many pushes to one device, or too many new provider tokens on one
    /// connection. The wait doubles with each further retry.
    static let throttleWait: Duration = .seconds(60)

    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        if response.status == .ok { return Self.success(response) }
        let answer = APNsAnswer(response)
        var outcome =
            Self.outcome(reason: answer.reason, asOf: answer.timestamp ?? now)
            ?? Self.outcome(status: response.status, reason: answer.reason, asOf: now)
        // The wait that the field `retry-after` asks for is respected. The service itself never sends the field, but an
        // intermediary may.
        if case .retry(let least, let scope) = outcome.reaction, let wait = RetryAfter.wait(response.fields, at: now) {
            outcome.reaction = .retry(after: max(least, wait), scope: scope)
        }
        return outcome
    }

    /// Returns the outcome of a success. The development gateway assigns an id to each push that it accepts. With this
    /// id, Apple's console finds the push's delivery log.
    private static func success(_ response: HTTPResponse) -> Outcome {
        guard let id = AnswerWord.checked(response.fields[uniqueIDField]) else { return .accepted }
        return Outcome(.success, reason: "\(uniqueIDField) \(id)", .accepted)
    }

    private static let uniqueIDField = "apns-unique-id"

    /// Returns the outcome of an answer to a message.
    ///
    /// Some push types need device tokens of their own. A push of such a type may have been sent to all registrations
    /// of a tag, and so to tokens that do not suit it. Such a token is itself valid, so it is kept.
    public func outcome(of response: HTTPResponse, to message: Message, at now: Timestamp) -> Outcome {
        var outcome = outcome(of: response, at: now)
        if outcome.name == .wrongToken, let headers = try? APNsHeaders(message), !headers.pushType.usesTheAppsToken {
            outcome.reaction = .refuse
        }
        return outcome
    }

    /// Returns the outcome for a reason listed in PushServices.md, section 1.9; nil for any other reason.
    private static func outcome(reason: String, asOf timestamp: Timestamp) -> Outcome? {
        switch reason {
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
            "InvalidPushType", "MissingTopic", "PayloadEmpty":
            Outcome(.invalidNotificationFormat, reason: reason, .refuseAll)
        case "PayloadTooLarge":
            Outcome(.invalidNotificationSize, reason: reason, .refuseAll)
        case "BadPath", "MethodNotAllowed":
            Outcome(.pnsInterfaceError, reason: reason, .refuseAll)
        case "MissingDeviceToken":
            Outcome(.badChannel, reason: reason, .refuse)
        case "BadDeviceToken":
            Outcome(.badChannel, reason: reason, .drop(asOf: nil, guarded: true))
        case "DeviceTokenNotForTopic":
            Outcome(.wrongToken, reason: reason, .drop(asOf: nil, guarded: true))
        case "ExpiredToken", "Unregistered":
            Outcome(.expiredChannel, reason: reason, .drop(asOf: timestamp, guarded: false))
        case "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken",
            "BadEnvironmentKeyInToken", "Forbidden", "MissingProviderToken":
            Outcome(.invalidCredentials, reason: reason, .stop)
        case "ExpiredProviderToken", "InvalidProviderToken":
            Outcome(.invalidCredentials, reason: reason, .reauthorize)
        case "UnrelatedKeyIdInToken":
            Outcome(.invalidCredentials, reason: reason, .retryElsewhere)
        case "IdleTimeout", "Shutdown":
            Outcome(.pnsUnavailable, reason: reason, .retryElsewhere)
        case "TooManyProviderTokenUpdates":
            Outcome(.throttled, reason: reason, .retry(after: throttleWait, scope: .platform))
        case "TooManyRequests":
            Outcome(.throttled, reason: reason, .retry(after: throttleWait, scope: .device))
        case "InternalServerError":
            Outcome(.pnsServerError, reason: reason, .retry(after: faultWait, scope: .device))
        case "ServiceUnavailable":
            Outcome(.pnsUnavailable, reason: reason, .retry(after: faultWait, scope: .device))
        default: nil
        }
    }

    /// Returns the outcome according to the status alone, for a reason that is missing or unknown.
    private static func outcome(status: HTTPStatus, reason: String, asOf now: Timestamp) -> Outcome {
        switch status.code {
        case 410: Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        case 413: Outcome(.invalidNotificationSize, reason: reason, .refuseAll)
        case 429: Outcome(.throttled, reason: reason, .retry(after: throttleWait, scope: .device))
        case 400..<500: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        case 503: Outcome(.pnsUnavailable, reason: reason, .retry(after: faultWait, scope: .device))
        case 500..<600: Outcome(.pnsServerError, reason: reason, .retry(after: faultWait, scope: .device))
        // The answer comes from an intermediary, not from the service.
        default: Outcome(.pnsInterfaceError, reason: reason, .retry(after: faultWait, scope: .device))
        }
    }
}

/// The body of a refusal: `{"reason":"…"}`. With status 410, it also has the member `timestamp`, in Unix milliseconds.
private struct APNsAnswer {
    /// The reason, if it consists of letters only and is therefore safe to show; otherwise the status.
    let reason: String
    let timestamp: Timestamp?

    init(_ response: HTTPResponse) {
        if let standard = Self.standard(response.bytes) {
            self = standard
            return
        }
        let body = response.bytes.count <= 4096 ? try? JSON(parsing: response.bytes, maximumDepth: 8) : nil
        reason = body?["reason"]?.string.flatMap(Self.word) ?? "status \(response.status.code)"
        timestamp = body?["timestamp"]?.integer.map { Timestamp(milliseconds: $0) }
    }

    private init(reason: String, timestamp: Timestamp?) {
        self.reason = reason
        self.timestamp = timestamp
    }

    private static func word(_ text: String) -> String? {
        (1...wordLimit).contains(text.utf8.count) && text.utf8.allSatisfy(isLetter) ? text : nil
    }

    private static let wordLimit = 64

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension APNsAnswer {
    private static let opening = Array(#"{"reason":""#.utf8)
    private static let middle = Array(#"","timestamp":"#.utf8)
    private static let closing = Array(#""}"#.utf8)
    /// The largest number of digits that always fits into a 64-bit integer.
    private static let digitLimit = 18

    /// Parses an answer that has exactly the form in which the service writes it; nil for any other form.
    ///
    /// This function works on bytes for speed, because a broadcast may have tens of thousands of refusals.
    private static func standard(_ bytes: [UInt8]) -> APNsAnswer? {
        guard bytes.starts(with: opening) else { return nil }
        let word = bytes[opening.count...].prefix { isLetter($0) }
        guard (1...wordLimit).contains(word.count) else { return nil }
        let reason = String(decoding: word, as: UTF8.self)
        let rest = bytes[word.endIndex...]
        if rest.elementsEqual(closing) { return APNsAnswer(reason: reason, timestamp: nil) }
        guard rest.starts(with: middle), rest.last == UInt8(ascii: "}") else { return nil }
        let digits = rest.dropFirst(middle.count).dropLast()
        guard (1...digitLimit).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return APNsAnswer(reason: reason, timestamp: Timestamp(milliseconds: number))
    }
}
