import MartletCore
import MartletHTTP
import MartletModel

extension HTTPResponse {
    /// Creates the answer for a payload that was stored and whose id is being sent.
    init(created id: PayloadID) {
        self.init(.created, json: ["id": .integer(Int64(id.rawValue))])
        fields["location"] = "/api/notifications/\(id)"
    }
}
