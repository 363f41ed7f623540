import MartletCore
import MartletHTTP
import MartletModel

/// What the handles of several platforms have in common.
enum HandleRules {
    /// Longer than any that was ever seen.
    static let lengthLimit = 4096

    /// Checks a handle that is opaque to everybody but its push service: printable ASCII without spaces in each part.
    /// - Parameter names: What the platform calls the parts.
    static func checkOpaque(_ handle: PushHandle, _ names: String...) throws(PushServiceError) {
        guard handle.parts.count == names.count else {
            throw PushServiceError(.badHandle, "The handle has these parts: \(names.joined(separator: ", ")).")
        }
        for (name, part) in zip(names, handle.parts) where !isOpaque(part) {
            throw PushServiceError(
                .badHandle, "\(name) has 1 to \(lengthLimit) printable ASCII characters, without spaces.")
        }
    }

    /// An absolute https URL with the scheme and the host in lower case, as URLs compare (RFC 3986, section 6.2.2.1); nil for
    /// anything else.
    static func canonicalURL(_ text: String, allowsHTTP: Bool = false) -> String? {
        guard isOpaque(text), let (origin, rest) = HTTPOrigin.splitting(text), allowsHTTP || origin.scheme == .https
        else {
            return nil
        }
        return origin.description + (rest.isEmpty ? "/" : rest)
    }

    /// What follows the first slash of an address's path, the query included; nil for what is no address.
    static func pathAfterSlash(of address: some Collection<UInt8>) -> ArraySlice<UInt8>? {
        let address = Array(address)
        guard let colon = address.firstIndex(of: UInt8(ascii: ":")), address[colon...].starts(with: "://".utf8)
        else { return nil }
        let authority = address[(colon + 3)...]
        guard let end = authority.firstIndex(where: { "/?#".utf8.contains($0) }) else { return [] }
        let rest = authority[end...].prefix { $0 != UInt8(ascii: "#") }
        return rest.first == UInt8(ascii: "/") ? rest.dropFirst() : rest
    }

    private static func isOpaque(_ text: String) -> Bool {
        (1...lengthLimit).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
