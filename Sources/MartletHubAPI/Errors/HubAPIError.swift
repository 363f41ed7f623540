import MartletHTTP

/// A request that is answered with an error: status, the number that the original service gives it where it has one,
/// and a sentence (NotificationHubs.md, section 3). No key, token, handle or payload is in the sentence.
struct HubAPIError: Error, Hashable {
    let status: HTTPStatus
    /// `SubCode` in the body.
    var number: Int?
    /// Without its full stop: one follows it in the body.
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
