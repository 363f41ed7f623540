import MartletCore
import MartletCrypto
import MartletHTTP

/// The token of an `Authorization` header (NotificationHubs.md, section 2.1), parsed but not yet verified.
struct SharedAccessSignature {
    /// The value of `sr` exactly as it is in the token, because the signature covers this text. This text is never
    /// rebuilt from its parts, because clients differ in its content and escaping (NotificationHubs.md, section 2.2).
    private let resource: Substring
    private let expiryText: Substring
    private let signature: [UInt8]
    /// The expiry time, in seconds since 1970.
    let expiry: Int64
    let keyName: String

    /// The maximum length of a header, in bytes. A longer header is refused.
    private static let lengthLimit = 8192

    /// - Returns: nil if the header is not a valid token: it is too long or has another scheme, or one of the four
    ///   fields is missing, occurs twice or cannot be decoded.
    init?(header: String) {
        guard header.utf8.count <= Self.lengthLimit, let space = header.utf8.firstIndex(of: UInt8(ascii: " ")),
            header[..<space].lowercased() == "sharedaccesssignature"
        else { return nil }
        var resource: Substring?
        var signature: Substring?
        var expiry: Substring?
        var keyName: Substring?
        for part in header[header.utf8.index(after: space)...].split(separator: "&") {
            guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = part[part.utf8.index(after: equals)...]
            switch part[..<equals] {
            case "sr": guard resource.setOnce(value) else { return nil }
            case "sig": guard signature.setOnce(value) else { return nil }
            case "se": guard expiry.setOnce(value) else { return nil }
            case "skn": guard keyName.setOnce(value) else { return nil }
            default: continue
            }
        }
        guard let resource, let signature, let expiry, let keyName else { return nil }
        guard expiry.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(expiry),
            let name = PercentEncoding.decode(keyName),
            let code = PercentEncoding.decode(signature).flatMap({ Base64.decode($0) })
        else { return nil }
        self.resource = resource
        expiryText = expiry
        self.signature = code
        self.expiry = seconds
        self.keyName = name
    }

    /// The host and path for which the token is valid; nil if `TokenAudience` cannot parse its `sr`.
    var audience: TokenAudience? { TokenAudience(resource) }

    /// Returns whether one of the rule's keys signed the token.
    func isSigned(by rule: AccessRule) throws(CryptoError) -> Bool {
        let message = Array("\(resource)\n\(expiryText)".utf8)
        for key in [rule.primaryKey, rule.secondaryKey] where !key.isEmpty {
            if try HMACSHA256(key: Array(key.utf8)).isValid(signature, for: message) { return true }
        }
        return false
    }
}

extension Optional {
    /// Sets the value if there was no value before.
    /// - Returns: True if there was no value before.
    fileprivate mutating func setOnce(_ value: Wrapped) -> Bool {
        guard self == nil else { return false }
        self = value
        return true
    }
}
