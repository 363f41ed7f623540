import MartletModel

/// Why one attempt failed, and whether another makes sense.
struct RetryableFailure: Error {
    /// What the app is told where there is no further attempt.
    var error: PushClientError
    /// Whether the next attempt may go better.
    var mayPass = false
    /// Whether the server may have acted on the request.
    var mayHaveHadEffect = false
    /// What the server asked to wait before the next.
    var shortestWait = Duration.zero

    static let logInNeeded = RetryableFailure(error: .logInNeeded)
    static let tokenNeeded = RetryableFailure(error: .tokenNeeded, mayPass: true)
    static let superseded = RetryableFailure(error: .superseded)

    static func final(_ kind: PushClientError.Kind, _ message: String) -> RetryableFailure {
        RetryableFailure(error: PushClientError(kind, message))
    }

    /// The same where what failed only prepared the request.
    var withoutEffect: RetryableFailure {
        var failure = self
        failure.mayHaveHadEffect = false
        return failure
    }

    /// The same where trying again would do harm.
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

    /// Reads a refusal, in the server's own words where it has any.
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
        // These say that the server did not take the request up.
        mayHaveHadEffect = ![429, 503, 507].contains(answer.status)
        shortestWait = retryAfter ?? .zero
    }
}
