/// The name of a blob within its container: a relative path of 1 to 16 segments. Checked so strictly that it may name a
/// file below a directory: no segment is empty or made of dots alone, and none has a slash, a backslash or a control
/// character in it.
public struct BlobName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The segments with slashes between them.
    public let text: String

    public static let lengthLimit = 1024
    public static let segmentLimit = 16
    private static let segmentLengthLimit = 255

    /// - Parameter text: Decoded.
    /// - Returns: nil for a name that no blob has.
    public init?(_ text: String) {
        guard (1...Self.lengthLimit).contains(text.utf8.count) else { return nil }
        let segments = Self.segments(of: text)
        guard segments.count <= Self.segmentLimit, segments.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// What makes a good name, for a person.
    public static let rule =
        "A blob's name has up to \(lengthLimit) bytes in up to \(segmentLimit) segments between slashes; none is empty, "
        + "made of dots, longer than \(segmentLengthLimit) bytes, or has backslashes or control characters."

    public var segments: [Substring] { Self.segments(of: text) }

    /// By bytes: a slash and a combining mark after it are one character.
    private static func segments(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    // By bytes, as file systems compare names.

    public static func == (left: BlobName, right: BlobName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    public var description: String { text }

    /// By bytes, as listings are ordered.
    public static func < (left: BlobName, right: BlobName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    private static func isAllowed(_ segment: Substring) -> Bool {
        (1...segmentLengthLimit).contains(segment.utf8.count)
            && !segment.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            && segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }
}

/// Where a blob is.
public struct BlobAddress: Hashable, Sendable {
    public let container: ContainerName
    public let name: BlobName

    public init(_ container: ContainerName, _ name: BlobName) {
        self.container = container
        self.name = name
    }
}
