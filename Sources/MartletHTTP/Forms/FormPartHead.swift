/// The header lines of a part that have been read so far.
struct FormPartHead: Hashable, Sendable {
    private(set) var name: String?
    private(set) var contentType: String?
    /// The size of all lines in bytes, including their line ends.
    var bytes = 0

    /// The accepted values of `Content-Transfer-Encoding`: those that leave the content as it is. RFC 7578, section
    /// 4.7, deprecates the field for HTTP.
    private static let encodings: Set<String> = ["7bit", "8bit", "binary"]

    /// Reads and checks one header line.
    /// - Parameter line: A non-empty header line without its line end.
    mutating func read(_ line: ArraySlice<UInt8>) throws(FormDataError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].allSatisfy(Self.isTokenByte),
            colon > line.startIndex, line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let value = String(validating: line[(colon + 1)...], as: UTF8.self)
        else { throw .malformed(.headerLine) }
        switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
        case "content-disposition":
            guard name == nil, let disposition = HeaderParameters(value), disposition.value == "form-data",
                let name = disposition["name"], !name.isEmpty
            else { throw .malformed(.noName) }
            self.name = name
        case "content-type":
            guard contentType == nil else { throw .malformed(.contentType) }
            contentType = String(value.drop { $0 == " " || $0 == "\t" })
        case "content-transfer-encoding":
            guard let encoding = HeaderParameters(value), Self.encodings.contains(encoding.value) else {
                throw .malformed(.transferEncoding)
            }
        default: break
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
