import MartletHTTP
import MartletModel

extension HTTPResponse {
    init(_ status: HTTPStatus, json: JSON) {
        self.init(
            status, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(json.bytes))
    }

    /// Creates a response with the body `{"error": "…"}`.
    init(_ status: HTTPStatus, error sentence: String) {
        self.init(status, json: ["error": .string(sentence)])
    }
}
