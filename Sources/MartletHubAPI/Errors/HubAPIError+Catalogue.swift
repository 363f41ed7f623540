import MartletCore
import MartletHTTP

extension HubAPIError {
    // These texts are recorded from the original service (NotificationHubs.md, section 3.1). A recorded text may end
    // with two full stops: the first is part of the text here, and the second is added when the body is written.
    static let invalidSignature = HubAPIError(
        .unauthorized, nil, "InvalidSignature: The token has an invalid signature.")
    static let hubNotFound = HubAPIError(.notFound, nil, "No service is hosted at the specified address.")
    static let hubExists = HubAPIError(.conflict, 40_900, "Conflict")
    static let registrationNotFound = HubAPIError(.notFound, nil, "")
    static let installationNotFound = HubAPIError(.notFound, nil, "Installation not found")

    static let missingToken = HubAPIError(
        .unauthorized, 40_102, "The request has no Authorization header")
    static let malformedToken = HubAPIError(
        401, 40_105, "The Authorization header is no shared access signature with sr, sig, se and skn")
    static let expiredToken = HubAPIError(
        .unauthorized, 40_106, "The shared access signature has expired")
    static let wrongAudience = HubAPIError(
        401, 40_104, "The shared access signature is for another host or path (its sr does not cover this address)")

    /// The error for a valid token whose rule lacks the right that the operation needs.
    static let rightMissing: HubAPIError = {
        var error = HubAPIError(.forbidden, nil, "")
        error.hasBody = false
        return error
    }()

    static func badRequest(_ sentence: String) -> HubAPIError {
        HubAPIError(.badRequest, 40_000, withoutStop(sentence))
    }

    /// Creates an error whose text begins with the recorded text, followed by the allowed values.
    static func badFormat(_ value: String, allowed: [String]) -> HubAPIError {
        HubAPIError(
            .badRequest, nil,
            "The HTTP header \"ServiceBusNotification-Format\" has an invalid value: \"\(value.prefix(64))\". "
                + "Allowed values are \(allowed.joined(separator: ", "))")
    }

    static let notificationNotFound = HubAPIError(.notFound, 40_403, UnknownNotification.sentence)
    static let notificationBegun = HubAPIError(
        .notFound, 40_403, "The notification has gone out already and cannot be withdrawn")
    static let notificationEnded = HubAPIError(
        .conflict, 40_900, "The notification has ended: it can no longer be paused, resumed or canceled")
    static func replacedTooLate(_ why: String) -> HubAPIError {
        HubAPIError(.conflict, 40_900, "The notification \(why) and cannot be replaced; send another one")
    }

    static let jobNotFound = HubAPIError(.notFound, 40_403, "There is no job of this id")
    static let noSuchPath = HubAPIError(.notFound, 40_400, "There is nothing at this path")
    static let badTarget = badRequest("The path or query is not a valid URL (RFC 3986)")

    static func methodNotAllowed(_ allowed: [HTTPMethod]) -> HubAPIError {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        var error = HubAPIError(.methodNotAllowed, 40_500, "This path answers \(list) only")
        error.fields["allow"] = list
        return error
    }

    static let gone = HubAPIError(.gone, 41_000, "The registration id can no longer be used; ask for a new one")
    static let hubHasNoVersion = HubAPIError(
        .preconditionFailed, nil, "A hub has no entity tag: the If-Match of an update must be *")
    static let versionMismatch = HubAPIError(.preconditionFailed, nil, "The registration has changed (If-Match)")

    static func conflict(_ sentence: String) -> HubAPIError { HubAPIError(.conflict, 40_900, sentence) }

    static func tooLarge(_ sentence: String) -> HubAPIError {
        HubAPIError(.contentTooLarge, nil, withoutStop(sentence))
    }

    static let keyUsedBefore = HubAPIError(
        422, 42_200, "The Idempotency-Key was used for another request; every new request needs a new key")

    private static func withoutStop(_ sentence: String) -> String {
        sentence.last == "." ? String(sentence.dropLast()) : sentence
    }

    /// Creates the error for a server that cannot answer now.
    /// - Parameter seconds: The delay for `Retry-After`, which must be whole seconds, because the Java and Android
    ///   clients cannot parse any other format (NotificationHubs.md, section 3.2).
    static func busy(_ sentence: String, retryAfter seconds: Int) -> HubAPIError {
        var error = HubAPIError(.serviceUnavailable, 50_004, sentence)
        error.fields["retry-after"] = String(seconds)
        return error
    }

    /// Creates the error for too many requests.
    /// - Parameter seconds: The delay for `Retry-After`, as in `busy`.
    static func throttled(_ sentence: String, retryAfter seconds: Int) -> HubAPIError {
        var error = HubAPIError(.tooManyRequests, 42_900, sentence)
        error.fields["retry-after"] = String(seconds)
        return error
    }

    /// The error for full storage. The status is not 503, because the Java and .NET clients repeat a request within
    /// seconds after a 503 (NotificationHubs.md, section 3.2), and only an operator can free storage.
    static let storageFull: HubAPIError = {
        var error = HubAPIError(
            .insufficientStorage, 50_700, "The server has no room left for anything new; what it has accepted stays")
        error.fields["retry-after"] = "60"
        return error
    }()

    static let internalError = HubAPIError(.internalServerError, 50_000, "The server could not answer")

    /// Creates the caller's error for a storage error, without the details of the storage error.
    init(_ error: StorageError) {
        switch error.kind {
        case .corrupt: self = .internalError
        case .closed, .locked: self = .busy("The server is starting or stopping", retryAfter: 1)
        case .full: self = .storageFull
        case .unavailable:
            self =
                switch error.cause {
                case .hubMoves: .busy("The hub is being moved, and takes no writes for some seconds", retryAfter: 2)
                case .clusterAway: .busy("The database of the hub cannot be reached", retryAfter: 10)
                case nil: .busy("The server cannot store anything at the moment", retryAfter: 10)
                }
        }
    }

    init(_ error: DeviceRegistryError) {
        switch error {
        case .invalid(let sentence): self = .badRequest(sentence)
        case .storage(let error): self.init(error)
        case .refused(.notFound): self = .registrationNotFound
        case .refused(.gone): self = .gone
        case .refused(.versionMismatch), .refused(.notTagged): self = .versionMismatch
        case .refused(.notMergeable(let sentence)): self = .badRequest(sentence)
        }
    }

    init(_ error: HubDirectoryError) {
        switch error {
        case .badCredential:
            self = .badRequest(
                "\(error) Secrets are not shown when a hub is read: a credential that changes must bring them again")
        case .badName, .unknownPlatform, .invalid, .ruleNotFound: self = .badRequest(error.description)
        case .exists: self = .hubExists
        case .notFound: self = .hubNotFound
        case .storage(let error): self.init(error)
        }
    }

    init(ofInstallation error: DeviceRegistryError) {
        if case .refused(.notFound) = error { self = .installationNotFound } else { self.init(error) }
    }

    init(_ error: TestSendError) {
        switch error {
        // The wait is rounded up, because an attempt before the end of the wait would be refused again.
        case .tooMany(let wait):
            self = .throttled("The hub has had its test sends of this minute", retryAfter: wait.retryAfterSeconds)
        case .refused(let error): self.init(error)
        }
    }

    init(_ error: NotificationIntakeError) {
        switch error {
        case .invalid(let sentence): self = .badRequest(sentence)
        case .tooLarge(let sentence): self = .tooLarge(sentence)
        case .conflicting: self = .keyUsedBefore
        case .backlogged(let excess): self = .throttled(excess.sentence, retryAfter: BacklogExcess.retryAfter)
        case .storage(let error): self.init(error)
        }
    }
}
