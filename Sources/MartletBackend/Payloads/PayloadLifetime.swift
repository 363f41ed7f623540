/// The limits of a payload's lifetime.
enum PayloadLifetime {
    static let seconds: ClosedRange<Int64> = 1...(30 * 86_400)

    static let refusal = BackendError.badBody(
        "\"expiresIn\" is a whole number of seconds from \(seconds.lowerBound) to \(seconds.upperBound), said once.")
}

extension RequestBody {
    /// Returns the value of "expiresIn" in seconds; nil if the member is missing.
    func lifetime() throws(BackendError) -> Int64? {
        try optionalInteger("expiresIn", in: PayloadLifetime.seconds)
    }
}
