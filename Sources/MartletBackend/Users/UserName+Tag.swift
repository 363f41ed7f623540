public import MartletModel

extension UserName {
    /// The prefix of the tag of a user's devices.
    static let tagPrefix = "username:"

    /// Reads the user, in lower case, from the tag of the user's devices.
    /// - Returns: nil if the tag is not a user's tag.
    public init?(tag: Tag) {
        guard tag.folded.hasPrefix(Self.tagPrefix) else { return nil }
        var bytes: [UInt8] = []
        var rest = tag.folded.utf8.dropFirst(Self.tagPrefix.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "#") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard let escaped = UInt8(digits, radix: 16) else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        // A tag that this type would not have produced does not name a user.
        guard let text = String(validating: bytes, as: UTF8.self), let name = try? UserName(text), name.tag == tag
        else { return nil }
        self = name
    }
}
