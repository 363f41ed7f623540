import MartletModel

/// Installations of the source that are sent to the server in one request.
struct InstallationBatch {
    /// The maximum size of the documents in one request, in bytes.
    static let sizeLimit = 1 << 20

    private var items: [JSON] = []
    private var size = 0

    /// Adds an installation.
    /// - Parameters:
    ///   - wanted: The entry of this installation in the server's answer, with `id`, `platform` and `rows`.
    ///   - document: The installation as the source has sent it.
    /// - Returns: The installations that must be sent first, because together with the new installation they would
    ///   exceed `sizeLimit`; nil if there are none.
    mutating func add(_ wanted: JSON, _ document: [UInt8]) -> [JSON]? {
        let full = size + document.count > Self.sizeLimit ? take() : nil
        var members = wanted.object ?? [:]
        members["document"] = (try? JSON(parsing: document)) ?? .null
        items.append(.object(members))
        size += document.count
        return full
    }

    /// Removes and returns all installations.
    /// - Returns: nil if there are none.
    mutating func take() -> [JSON]? {
        guard !items.isEmpty else { return nil }
        defer {
            items = []
            size = 0
        }
        return items
    }
}
