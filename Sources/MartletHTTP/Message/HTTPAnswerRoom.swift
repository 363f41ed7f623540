/// Reserves memory for the answer to a request before the answer is made, and holds it until the peer has read the
/// answer.
public protocol HTTPAnswerRoom: Sendable {
    /// Waits until an answer has room. What the answer needs besides is taken when it is made; what it does not need is
    /// given back then.
    /// - Parameters:
    ///   - count: How long the answer may become, in bytes.
    ///   - account: The account whose share is used.
    /// - Returns: False if there was no room within the server's waiting time, because earlier answers were not read.
    func reserve(_ count: Int, for account: HTTPBodyAccount) async -> Bool
}

extension HTTPRequest {
    /// How long an answer may become that no route says more of: a document, not a page of many.
    public static let documentBytes = 128 << 10
    /// How long a page of a listing may become.
    public static let pageBytes = 4 << 20

    /// Waits for the memory of an answer. Of a request that no server received, an answer always has room.
    public func hasAnswerRoom(_ count: Int, for account: HTTPBodyAccount) async -> Bool {
        guard count > 0, let answerRoom else { return true }
        return await answerRoom.reserve(count, for: account)
    }
}
