import MartletModel

/// The failure of one attempt: the error, and whether to try again.
struct RetryableFailure: Error {
    /// The error that the app gets if there is no further attempt.
    var error: PushClientError
    /// Whether the next attempt may succeed.
    var mayPass = false
    /// Whether the server may have acted on the request.
    var mayHaveHadEffect = false
    /// The minimum wait before the next attempt, as requested by the server.
    var shortestWait = Duration.zero

    static let logInNeeded = RetryableFailure(error: .logInNeeded)
    static let tokenNeeded = RetryableFailure(error: .tokenNeeded, mayPass: true)
    static let superseded = RetryableFailure(error: .superseded)

    static func final(_ kind: PushClientError.Kind, _ message: String) -> RetryableFailure {
        RetryableFailure(error: PushClientError(kind, message))
    }

    /// The same failure, marked as without effect at the server. Used if a request was not sent, because a request that
    /// it depends on failed.
    var withoutEffect: RetryableFailure {
        var failure = self
        failure.mayHaveHadEffect = false
        return failure
    }

    /// The same failure, marked as permanent. Used if a retry would do harm.
    var withoutAnotherTry: RetryableFailure {
        var failure = self
        failure.mayPass = false
        return failure
    }
}

extension RetryableFailure {
    init(_ error: ClientTransportError) {
        self.error = PushClientError(error)
        mayPass = error.kind == .unreachable || error.kind == .timedOut
        mayHaveHadEffect = error.mayHaveBeenProcessed
    }

    /// Creates the failure for a refusal, with the server's message if there is one.
    init(_ answer: ClientResponse) {
        let retryAfter = answer.fields["retry-after"].flatMap { Int64($0) }.map { Duration.seconds(max(0, $0)) }
        let sentence = (try? JSON(parsing: answer.body))?["message"]?.string
        func error(_ kind: PushClientError.Kind, _ otherwise: String) -> PushClientError {
            PushClientError(kind, sentence ?? otherwise)
        }
        self.error =
            switch answer.status {
            case 401: .logInNeeded
            case 413: error(.messageTooLong, "The message is too long.")
            case 429:
                error(.tooManyAttempts(retryAfter: retryAfter ?? .seconds(60)), "Too many attempts; wait a while.")
            case 500...: error(.serverProblem(status: answer.status), "The server has a problem; try again later.")
            default: error(.refused(status: answer.status), "The server refused this (\(answer.status)).")
            }
        mayPass = [408, 429, 500, 502, 503, 504, 507].contains(answer.status)
        // These statuses mean that the server did not process the request.
        mayHaveHadEffect = ![429, 503, 507].contains(answer.status)
        shortestWait = retryAfter ?? .zero
    }
}
