/// The input of a digest: a list of texts, each prefixed with its length, so that different lists never produce the
/// same bytes.
public struct DigestInput: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public mutating func append(_ text: String) { append(Array(text.utf8)) }

    public mutating func append(_ text: [UInt8]) {
        withUnsafeBytes(of: UInt64(text.count).bigEndian) { bytes += $0 }
        bytes += text
    }
}
