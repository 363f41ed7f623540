/// Changes to an installation: the subset of JSON Patch (RFC 6902) that the hub's clients use (NotificationHubs.md,
/// section 5.3).
public struct InstallationPatch: Hashable, Sendable {
    enum Operation: String {
        /// Both operations set a value, whether or not it already exists. They differ only for tags: `add` keeps all
        /// existing tags, and `replace` can remove tags.
        case add, replace
        /// Removes a value. If the value is missing, nothing changes.
        case remove
    }

    struct Step: Hashable, Sendable {
        var operation: Operation
        /// The parts of the path to the changed member (a JSON pointer), unescaped.
        var path: [String]
        /// The value that the operation sets, or the tags that `remove` removes; null if the operation states no value.
        var value: JSON
    }

    let steps: [Step]

    /// The maximum number of operations in one patch.
    public static let countLimit = 200
    /// The maximum number of parts in a path; the longest valid path is `/secondaryTiles/t/templates/n/headers/h`.
    private static let pathLimit = 6

    /// Parses a patch.
    /// - Parameter bytes: JSON in UTF-8, at most `Installation.sizeLimit` bytes.
    /// - Throws: `InstallationError` with a sentence for the author of the patch.
    public init(parsing bytes: [UInt8]) throws(InstallationError) {
        guard bytes.count <= Installation.sizeLimit else {
            throw InstallationError("The patch is larger than \(Installation.sizeLimit) bytes.")
        }
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes, maximumDepth: Installation.depthLimit)
        } catch {
            throw InstallationError(error.description)
        }
        guard let elements = json.array else { throw InstallationError("The patch is no JSON array of operations.") }
        guard elements.count <= Self.countLimit else {
            throw InstallationError("A patch has at most \(Self.countLimit) operations.")
        }
        var steps: [Step] = []
        for (index, element) in elements.enumerated() {
            steps.append(try Self.step(element, "Operation \(index + 1) of the patch"))
        }
        self.steps = steps
    }

    private static func step(_ json: JSON, _ owner: String) throws(InstallationError) -> Step {
        let members = try InstallationMembers(json, of: owner)
        let word = try members.text("op")?.lowercased() ?? ""
        guard let operation = Operation(rawValue: word) else {
            throw InstallationError("The op of \(owner.uncapitalized) is not add, replace or remove.")
        }
        guard let path = try members.text("path"), path.first == "/" else {
            throw InstallationError("The path of \(owner.uncapitalized) is no JSON pointer such as /tags.")
        }
        guard let parts = pointer(path) else {
            throw InstallationError("The path of \(owner.uncapitalized) has a ~ that is neither ~0 nor ~1.")
        }
        guard parts.count <= pathLimit else { throw unknownPath(parts) }
        return Step(operation: operation, path: parts, value: members["value"] ?? .null)
    }

    /// Parses a JSON pointer (RFC 6901); nil if a `~` escape is invalid.
    private static func pointer(_ text: String) -> [String]? {
        var parts: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var bytes: [UInt8] = []
            var rest = part
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    bytes.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            parts.append(String(decoding: bytes, as: UTF8.self))
        }
        return parts
    }

    static func unknownPath(_ path: [String]) -> InstallationError {
        let text = path.map { "/\($0.prefix(64))" }.prefix(pathLimit).joined()
        return InstallationError("A patch cannot change '\(text)': an installation has no such path.")
    }
}
