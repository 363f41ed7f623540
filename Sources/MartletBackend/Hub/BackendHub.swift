public import MartletCore

/// The hub in which the backend registers devices and through which it sends.
public struct BackendHub: Sendable {
    let directory: HubDirectory
    private let name: String?

    /// - Parameter name: The hub's name; nil means the hub that the directory has chosen.
    public init(_ directory: HubDirectory, named name: String? = nil) {
        self.directory = directory
        self.name = name
    }

    /// The hub with the configured name; all hubs if no name is configured, because each of them may be or become the
    /// backend's hub.
    var candidates: [Hub] {
        guard let name else { return directory.all }
        return [directory.hub(named: name)].compactMap(\.self)
    }

    /// Returns the backend's hub.
    /// - Throws: `BackendError` with a message that tells the operator what to do.
    func hub() throws(BackendError) -> Hub {
        if let name {
            guard let hub = directory.hub(named: name) else { throw .missingHub(name) }
            return hub
        }
        switch directory.backendChoice {
        case .hub(let hub): return hub
        case .noHub: throw .noHub
        case .open: throw .manyHubs
        case .deleted: throw .deletedHub
        }
    }

    /// The backend's hub; nil if `hub` would throw.
    public var current: Hub? {
        do throws(BackendError) {
            return try hub()
        } catch {
            return nil
        }
    }

    /// A sentence that tells the operator why the backend can neither register devices nor send, although there are
    /// hubs; nil if the backend can do both, or if there are no hubs.
    public var obstacle: String? {
        guard !directory.all.isEmpty else { return nil }
        do throws(BackendError) {
            _ = try hub()
            return nil
        } catch {
            return error.sentence
        }
    }
}
