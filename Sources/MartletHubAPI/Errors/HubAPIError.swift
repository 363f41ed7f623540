import MartletHTTP

/// An error answer: the status, the number that the original service gives it (if any), and a sentence
/// (NotificationHubs.md, section 3). The sentence contains no key, token, handle or payload.
struct HubAPIError: Error, Hashable {
    let status: HTTPStatus
    /// `SubCode` in the body.
    var number: Int?
    /// The sentence without its full stop, which the body adds.
    let sentence: String
    var fields: HTTPFields = [:]
    /// A 403 for a missing right has no body.
    var hasBody = true

    init(_ status: HTTPStatus, _ number: Int?, _ sentence: String) {
        self.status = status
        self.number = number
        self.sentence = sentence
    }
}
