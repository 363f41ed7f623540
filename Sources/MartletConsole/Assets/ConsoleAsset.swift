import MartletCrypto

/// A file of the console's pages, as it is served.
struct ConsoleAsset: Sendable {
    let bytes: [UInt8]
    /// The entity tag (RFC 9110, section 8.8.3): the SHA-256 hash of the bytes.
    let tag: String
    let contentType: String

    /// Creates an asset; nil if the console uses no files with the ending of the path.
    /// - Parameter path: The path below `Web`; its ending determines the content type.
    init?(path: String, bytes: [UInt8]) {
        guard let contentType = Self.contentType(of: path) else { return nil }
        let bytes = path.hasSuffix(".js") ? ServedScript.withoutComments(bytes) : bytes
        self.bytes = bytes
        self.contentType = contentType
        tag = "\"\(Hex.encode(SHA256.hash(bytes)))\""
    }

    private static let contentTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "json": "application/json; charset=utf-8",
        "png": "image/png", "ico": "image/x-icon", "txt": "text/plain; charset=utf-8", "woff2": "font/woff2",
    ]

    /// Returns the content type for the ending of a path; nil if the console uses no files with this ending.
    static func contentType(of path: some StringProtocol) -> String? {
        guard let name = path.split(separator: "/", omittingEmptySubsequences: false).last,
            let dot = name.lastIndex(of: ".")
        else { return nil }
        return contentTypes[String(name[name.index(after: dot)...])]
    }
}
