import MartletServer

/// The last continuation tokens of the source's listing, and the number of empty pages since the last page with
/// registrations. If the source repeats a token, its listing is a loop and would never end. A listing that continues
/// with empty pages would not end either.
struct SourceContinuations {
    /// The number of tokens that are remembered.
    static let countLimit = 16
    /// The maximum number of times that a listing begins again because the source does not know its own token.
    static let restartLimit = 5
    /// The maximum number of pages in a row that have no registrations and are followed by another page. Azure may send
    /// some, because a listing is spread over several stores.
    static let emptyLimit = 1000

    private var recent: [String] = []
    private var empty: Int64 = 0
    private var restarts = 0

    /// Records the token with which the next page is requested; nil after the last page.
    /// - Parameter count: The number of registrations on the page that had the token; nil if it is not known.
    /// - Throws: `ServerError` if the token is one of the remembered tokens, or if too many pages were empty.
    mutating func follow(_ token: String?, after count: Int64? = nil) throws(ServerError) {
        guard let token else { return }
        empty = count == 0 ? empty + 1 : 0
        guard empty <= Self.emptyLimit else {
            throw ServerError(
                "The source has sent \(empty.grouped) pages without registrations, and promises more. What was copied stays; "
                    + "start the command again later.")
        }
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
