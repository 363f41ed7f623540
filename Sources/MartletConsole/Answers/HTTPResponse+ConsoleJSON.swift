import MartletHTTP
import MartletModel

extension HTTPResponse {
    init(_ status: HTTPStatus, consoleJSON json: JSON) {
        self.init(
            status, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(json.bytes))
    }
}
