import MartletHTTP

/// Decides when a request to the source of a migration is sent again.
enum SourceRetry {
    /// The maximum number of attempts. Together with the waits between them, they take about ten minutes.
    static let attemptLimit = 16
    private static let longestWait = 3600

    /// Returns whether a request without an answer is sent again. A request is not sent again if another attempt would
    /// fail, too, for example because the certificate is not trusted or the answer is too long.
    static func mayPass(_ failure: TransportError.Kind) -> Bool {
        switch failure {
        case .insecure, .invalidRequest, .misbehaved: false
        default: true
        }
    }

    /// Returns how long to wait before the request is sent again.
    /// - Parameters:
    ///   - status: The status of the answer; nil if there was no answer.
    ///   - retryAfter: The value of the field `Retry-After`.
    ///   - attempt: The number of attempts of this request so far, starting at 1.
    /// - Returns: The seconds to wait; nil if the answer is final.
    static func wait(status: Int?, retryAfter: String?, attempt: Int) -> Int? {
        let pause = min(60, 1 << min(attempt - 1, 6))
        switch status {
        case nil, 500, 502, 504, 408: return attempt < attemptLimit ? pause : nil
        // A source that throttles requests is asked again without a limit on the attempts, each time after the wait
        // that the source requests.
        case 429, 503: return retryAfter.flatMap { Int($0) }.map { min(max($0, 1), longestWait) } ?? pause
        default: return nil
        }
    }
}
