import MartletServer

/// The last continuation tokens of the source's listing. If the source repeats one of them, its listing is a loop and
/// would never end.
struct SourceContinuations {
    /// The number of tokens that are remembered.
    static let countLimit = 16
    /// The maximum number of times that a listing begins again because the source does not know its own token.
    static let restartLimit = 5

    private var recent: [String] = []
    private var restarts = 0

    /// Records the token with which the next page is requested; nil after the last page.
    /// - Throws: `ServerError` if the token is one of the last ones.
    mutating func follow(_ token: String?) throws(ServerError) {
        guard let token else { return }
        guard !recent.contains(token) else {
            throw ServerError(
                "The source's listing runs in a circle: it repeats a continuation token. What was copied stays; start the "
                    + "command again later.")
        }
        recent = recent.suffix(Self.countLimit - 1) + [token]
    }

    /// Records that the listing begins again, because the source does not know the token of the last page.
    /// - Throws: `ServerError` if that has happened too often.
    mutating func restart() throws(ServerError) {
        restarts += 1
        guard restarts <= Self.restartLimit else {
            throw ServerError(
                "The source has refused its own continuation token \(restarts) times: start the command again later.")
        }
        recent = []
    }
}
