import MartletHTTP

/// The media type of a payload's content (RFC 9110, section 8.3.1), as given by its sender.
struct MediaType: Hashable, Sendable {
    /// The media type as the sender wrote it.
    let text: String
    /// The top-level type in lower case, such as `image` of `image/png`.
    let type: String
    let subtype: String

    static let binary = MediaType(text: "application/octet-stream", type: "application", subtype: "octet-stream")

    private static let lengthLimit = 255

    private init(text: String, type: String, subtype: String) {
        self.text = text
        self.type = type
        self.subtype = subtype
    }

    /// Reads a media type.
    /// - Returns: nil if the text is not a media type that is valid in a header field.
    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            let value = HeaderParameters(text)?.value
        else { return nil }
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(Self.isToken) else { return nil }
        self.text = text
        type = String(parts[0])
        subtype = String(parts[1])
    }

    /// The word that tells apps the kind of content (`img`, `sound`, …), used if the sender gives none.
    var word: String {
        switch (type, subtype) {
        case ("image", _): "img"
        case ("audio", _): "sound"
        case ("video", _): "video"
        case ("text", "uri-list"): "url"
        case ("text", _): "text"
        default: "file"
        }
    }

    /// Whether a browser may display the content rather than save it. True only for types that cannot contain scripts.
    var isShown: Bool {
        switch type {
        case "image": !subtype.hasSuffix("xml")
        case "audio", "video": true
        default: type == "text" && subtype == "plain"
        }
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
                default: "!#$&-^_.+".utf8.contains(byte)
                }
            }
    }
}
