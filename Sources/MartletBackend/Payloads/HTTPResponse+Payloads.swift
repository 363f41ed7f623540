import MartletCore
import MartletHTTP
import MartletModel

extension HTTPResponse {
    /// That a payload is kept and its id goes out.
    init(created id: PayloadID) {
        self.init(.created, json: ["id": .integer(Int64(id.rawValue))])
        fields["location"] = "/api/notifications/\(id)"
    }
}
