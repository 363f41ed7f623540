import MartletCore
import MartletHTTP
import MartletModel

extension HTTPResponse {
    /// The answer that a payload was stored and its id is being sent.
    init(created id: PayloadID) {
        self.init(.created, json: ["id": .integer(Int64(id.rawValue))])
        fields["location"] = "/api/notifications/\(id)"
    }
}
