import MartletCore
import MartletHTTP
import MartletModel

/// The rules for handles that apply to several platforms.
enum HandleRules {
    /// The maximum length of one part of a handle, in bytes. It limits untrusted input. The handles of all known
    /// services are shorter.
    static let lengthLimit = 4096

    /// Checks a handle that only its push service can interpret: each part must be printable ASCII without spaces.
    /// - Parameter names: The platform's names for the parts.
    static func checkOpaque(_ handle: PushHandle, _ names: String...) throws(PushServiceError) {
        guard handle.parts.count == names.count else {
            throw PushServiceError(.badHandle, "The handle has these parts: \(names.joined(separator: ", ")).")
        }
        for (name, part) in zip(names, handle.parts) where !isOpaque(part) {
            throw PushServiceError(
                .badHandle, "\(name) has 1 to \(lengthLimit) printable ASCII characters, without spaces.")
        }
    }

    /// Returns an absolute URL with its scheme and host in lower case; nil if the text is not such a URL. The scheme
    /// must be https, or http if `allowsHTTP` is true.
    ///
    /// URLs are compared in this form (RFC 3986, section 6.2.2.1).
    static func canonicalURL(_ text: String, allowsHTTP: Bool = false) -> String? {
        guard isOpaque(text), let (origin, rest) = HTTPOrigin.splitting(text), allowsHTTP || origin.scheme == .https
        else {
            return nil
        }
        return origin.description + (rest.isEmpty ? "/" : rest)
    }

    /// Returns the part of a URL after the first slash of its path, with the query and without the fragment; nil if the
    /// text is not a URL.
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
