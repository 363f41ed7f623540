import MartletCrypto
import MartletHTTP

/// The page of a listing that a query requests.
struct PageRequest {
    /// The maximum number of entries on the page.
    let limit: Int
    let position: PagePosition
    private let scope: String

    static let sizeLimit = 100

    /// - Parameter scope: The name of the listing. A token is valid only for the listing and the filter for which it
    ///   was issued.
    init(_ target: HTTPTarget, scope: String) throws(HubAPIError) {
        self.scope = "\(scope)\n\(target.item("$filter")?.value ?? "")"
        limit = try Self.limit(target.item("$top")?.value)
        guard let token = target.item("continuationtoken")?.value, !token.isEmpty else {
            position = PagePosition(filter: 0, after: nil)
            return
        }
        guard let position = Self.position(in: token, scope: self.scope) else {
            throw .badRequest("The continuation token is not one that this listing gave")
        }
        self.position = position
    }

    /// Returns the token of the page that begins at a position. The token consists only of letters, digits, `-` and
    /// `_`, because the Java client puts it into URLs unescaped, and the JavaScript client escapes it
    /// (NotificationHubs.md, section 4.10).
    ///
    /// The token has a checksum but is not secret: a forged token gives access only to data that the listing contains
    /// anyway.
    func token(_ position: PagePosition) -> String {
        Base64URL.encode(position.bytes + Self.check(position.bytes, scope))
    }

    private static func limit(_ text: String?) throws(HubAPIError) -> Int {
        guard let text else { return sizeLimit }
        guard let number = Int(text), number > 0 else { throw .badRequest("$top must be a number above 0") }
        return min(number, sizeLimit)
    }

    private static func position(in token: String, scope: String) -> PagePosition? {
        guard token.utf8.count <= 64, let bytes = Base64URL.decode(token), bytes.count == PagePosition.byteCount + 8
        else { return nil }
        let head = Array(bytes.prefix(PagePosition.byteCount))
        guard check(head, scope) == Array(bytes.suffix(8)) else { return nil }
        return PagePosition(bytes: head)
    }

    private static func check(_ bytes: [UInt8], _ scope: String) -> [UInt8] {
        Array(SHA256.hash(bytes + Array(scope.utf8)).prefix(8))
    }
}

/// The position in a listing at which a page begins.
struct PagePosition: Hashable {
    /// The index of the current filter, from 0. A listing may evaluate several filters one after another.
    var filter: Int
    /// The sequence number of the last registration on the previous pages that the filter found; nil if there is none.
    var after: Int64?

    static let byteCount = 9

    init(filter: Int, after: Int64?) {
        self.filter = filter
        self.after = after
    }

    init(bytes: [UInt8]) {
        filter = Int(bytes[0])
        let number = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        after = number == .max ? nil : Int64(bitPattern: number)
    }

    var bytes: [UInt8] {
        let number = after.map(UInt64.init(bitPattern:)) ?? .max
        return [UInt8(truncatingIfNeeded: filter)]
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
