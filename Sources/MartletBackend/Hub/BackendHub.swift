public import MartletCore

/// The hub in which the backend registers devices and through which it sends.
public struct BackendHub: Sendable {
    let directory: HubDirectory
    private let name: String?

    /// - Parameter name: The hub's name; nil means the only hub that exists.
    public init(_ directory: HubDirectory, named name: String? = nil) {
        self.directory = directory
        self.name = name
    }

    /// Every hub that may be the backend's.
    var candidates: [Hub] {
        guard let name else { return directory.all }
        return [directory.hub(named: name)].compactMap(\.self)
    }

    /// - Throws: `BackendError` with a message that tells the operator what to do.
    func hub() throws(BackendError) -> Hub {
        if let name {
            guard let hub = directory.hub(named: name) else { throw .missingHub(name) }
            return hub
        }
        let all = directory.all
        guard let hub = all.first else { throw .noHub }
        guard all.count == 1 else { throw .manyHubs }
        return hub
    }
}
