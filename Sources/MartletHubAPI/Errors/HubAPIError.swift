import MartletHTTP

/// An error answer: the status, the original service's number for the error (if any), and a sentence
/// (NotificationHubs.md, section 3). The sentence contains no key, token, handle or payload.
struct HubAPIError: Error, Hashable {
    let status: HTTPStatus
    /// The value of `SubCode` in the body.
    var number: Int?
    /// The sentence without its full stop, which is added when the body is written.
    let sentence: String
    var fields: HTTPFields = [:]
    /// Whether the answer has a body. The answer 403 for a missing right has no body.
    var hasBody = true

    init(_ status: HTTPStatus, _ number: Int?, _ sentence: String) {
        self.status = status
        self.number = number
        self.sentence = sentence
    }
}
