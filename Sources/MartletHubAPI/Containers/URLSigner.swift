import MartletCore
public import MartletCrypto
import MartletHTTP
public import MartletModel

/// Signs the URLs of containers and blobs, and verifies the signatures. A signed URL gives its holder the stated rights
/// until it expires. The query has the format of a shared access signature of Azure's blob service, because clients of
/// that service use it.
public struct URLSigner: Sendable {
    /// The resource that a signature covers.
    public enum Scope: String, Hashable, Sendable {
        case blob = "b"
        /// The container with all its blobs.
        case container = "c"
    }

    /// The maximum length of a query value, in bytes. Longer values are refused.
    private static let lengthLimit = 256

    private let code: HMACSHA256

    /// - Parameter key: A secret of this server, 32 bytes.
    public init(key: [UInt8]) throws(CryptoError) {
        code = try HMACSHA256(key: key)
    }

    /// Returns the URL query that gives access to a path.
    /// - Parameters:
    ///   - path: The decoded path segments of the blob or the container.
    ///   - expiry: When the signature expires, truncated to whole seconds.
    public func query(
        for path: [String], _ scope: Scope, rights: StorageRights, until expiry: Timestamp
    ) throws(CryptoError) -> String {
        let end = String(expiry.iso8601.prefix(19)) + "Z"
        let signature = try code.authenticationCode(
            for: Self.message(path, scope: scope.rawValue, rights: rights.text, expiry: end))
        let parts = [
            ("sv", StorageVersion.current), ("se", end), ("sr", scope.rawValue), ("sp", rights.text),
            ("sig", Base64.encode(signature)),
        ]
        return parts.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    /// Returns the rights that the signature in a target grants on its path.
    /// - Parameter containerDepth: The number of path segments that name the container.
    func rights(of target: HTTPTarget, containerDepth: Int, at now: Timestamp) throws(BlobError) -> StorageRights {
        for name in ["sr", "sp", "se", "sig"] where target.query.count(where: { $0.name.lowercased() == name }) > 1 {
            throw .signedTwice(name)
        }
        guard let signature = value("sig", target), let expiry = value("se", target), let scope = value("sr", target),
            let rights = value("sp", target), let code = Base64.decode(signature)
        else { throw .notSigned }
        let path = scope == Scope.container.rawValue ? Array(target.segments.prefix(containerDepth)) : target.segments
        guard isValid(code, for: Self.message(path, scope: scope, rights: rights, expiry: expiry)) else {
            throw .badSignature
        }
        guard let end = Timestamp(iso8601: expiry), now < end else { throw .expired }
        return StorageRights(rights)
    }

    private func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        (try? code.isValid(signature, for: message)) ?? false
    }

    private func value(_ name: String, _ target: HTTPTarget) -> String? {
        // The raw value is used because the plus signs of a Base64 signature may be unescaped.
        guard let raw = target.item(name)?.rawValue, raw.utf8.count <= Self.lengthLimit else { return nil }
        return PercentEncoding.decode(raw)
    }

    /// Returns the text that is signed. It is unambiguous: only the path can contain a line feed, and the path comes
    /// last.
    private static func message(_ path: [String], scope: String, rights: String, expiry: String) -> [UInt8] {
        Array("\(scope)\n\(rights)\n\(expiry)\n\(path.joined(separator: "/"))".utf8)
    }
}
