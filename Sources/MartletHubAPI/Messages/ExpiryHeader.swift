import MartletCore
import MartletHTTP
import MartletModel

/// The header `Martlet-Expires`, which states when a notification expires.
enum ExpiryHeader {
    static let name = "Martlet-Expires"

    /// Reads the header.
    /// - Returns: nil if the request has no such header.
    static func read(from fields: HTTPFields) throws(HubAPIError) -> Expiry? {
        let values = fields.values(of: name.lowercased())
        guard let text = values.first else { return nil }
        guard values.count == 1, let expiry = expiry(text) else {
            throw .badRequest(
                "\(name) must be, once, a time in UTC such as 2026-11-21T09:22:56Z or a duration such as PT90M")
        }
        return expiry
    }

    private static func expiry(_ text: String) -> Expiry? {
        if text.hasPrefix("P") { return XMLDuration(text)?.duration.map(Expiry.after) }
        return text.hasSuffix("Z") ? Timestamp(iso8601: text).map(Expiry.at) : nil
    }
}
