/// How long payloads may live.
enum PayloadLifetime {
    static let seconds: ClosedRange<Int64> = 1...(30 * 86_400)

    static let refusal = BackendError.badBody(
        "\"expiresIn\" is a whole number of seconds from \(seconds.lowerBound) to \(seconds.upperBound), said once.")
}

extension RequestBody {
    /// What "expiresIn" says, in seconds; nil where it is missing.
    func lifetime() throws(BackendError) -> Int64? {
        try optionalInteger("expiresIn", in: PayloadLifetime.seconds)
    }
}
