/// Reserves memory for the answer to a request before the answer is made, and holds it until the peer has read the
/// answer.
public protocol HTTPAnswerRoom: Sendable {
    /// Waits until the server's limits leave enough memory for an answer, and reserves it. If the answer turns out
    /// longer or shorter than stated, the difference is reserved or released when the answer is made.
    /// - Parameters:
    ///   - count: The maximum length of the answer, in bytes.
    ///   - account: The account whose share of the memory is used.
    /// - Returns: False if no memory could be reserved within the server's waiting time, because earlier answers were
    ///   not read.
    func reserve(_ count: Int, for account: HTTPBodyAccount) async -> Bool
}

extension HTTPRequest {
    /// The assumed maximum length, in bytes, of an answer whose route states no other length.
    ///
    /// This is enough for one document, but not for a page of many documents.
    public static let documentBytes = 128 << 10
    /// The maximum length of a page of a listing, in bytes.
    public static let pageBytes = 4 << 20

    /// Waits until memory for the answer is reserved. Returns at once if no server received the request.
    /// - Returns: False if no memory could be reserved within the server's waiting time.
    public func hasAnswerRoom(_ count: Int, for account: HTTPBodyAccount) async -> Bool {
        guard count > 0, let answerRoom else { return true }
        return await answerRoom.reserve(count, for: account)
    }
}
