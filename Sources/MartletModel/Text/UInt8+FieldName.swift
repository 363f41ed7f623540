extension UInt8 {
    /// Whether the byte is allowed in the name of a header field, which is a token (RFC 9110, section 5.6.2).
    var isOfFieldName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
