/// The name of a blob within its container: a relative path of 1 to 16 segments. A valid name can safely be used as a
/// file path below a directory. No segment is empty or consists only of dots, and no segment contains a slash, a
/// backslash or a control character.
public struct BlobName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The segments, separated by slashes.
    public let text: String

    public static let lengthLimit = 1024
    public static let segmentLimit = 16
    private static let segmentLengthLimit = 255

    /// Creates a name from a text, after checking it.
    /// - Parameter text: The name without URL escapes.
    /// - Returns: nil if the name is not allowed.
    public init?(_ text: String) {
        guard (1...Self.lengthLimit).contains(text.utf8.count) else { return nil }
        let segments = Self.segments(of: text)
        guard segments.count <= Self.segmentLimit, segments.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// The rule for valid names, as a sentence for users.
    public static let rule =
        "A blob's name has up to \(lengthLimit) bytes in up to \(segmentLimit) segments between slashes; none is empty, "
        + "made of dots, longer than \(segmentLengthLimit) bytes, or has backslashes or control characters."

    public var segments: [Substring] { Self.segments(of: text) }

    /// Splits a name at its slashes. Compares bytes instead of characters, because a slash and a combining mark after
    /// it form a single character.
    private static func segments(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    // Names are compared by their bytes, as file systems compare them.

    public static func == (left: BlobName, right: BlobName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    public var description: String { text }

    /// Returns whether a name comes before another name in a listing. Compares bytes.
    public static func < (left: BlobName, right: BlobName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    private static func isAllowed(_ segment: Substring) -> Bool {
        (1...segmentLengthLimit).contains(segment.utf8.count)
            && !segment.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
            && segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }
}

/// The container and the name of a blob.
public struct BlobAddress: Hashable, Sendable {
    public let container: ContainerName
    public let name: BlobName

    public init(_ container: ContainerName, _ name: BlobName) {
        self.container = container
        self.name = name
    }
}
