public import MartletModel
import Synchronization

/// The hubs as they are now, in memory, because every request asks for one. Writes go to the store first, so what the
/// directory shows is on disk.
public final class HubDirectory: Sendable {
    private let store: any HubStore
    private let time: any TimeSource
    private let services: PushServiceList
    private let fallbacks: [PlatformID: Credential]
    private let hubs = Mutex<[String: Hub]>([:])

    /// Call `reload` before the first look-up.
    /// - Parameter fallbacks: Credentials of hubs that have none of their own for a platform, such as a simulator's.
    ///   They are never stored.
    public init(
        store: any HubStore, services: PushServiceList, time: any TimeSource, fallbacks: [PlatformID: Credential] = [:]
    ) {
        self.fallbacks = fallbacks
        self.store = store
        self.services = services
        self.time = time
    }

    /// Reads all hubs from the store.
    public func reload() async throws(StorageError) {
        let stored = try await store.hubs()
        hubs.withLock { hubs in
            hubs = Dictionary(uniqueKeysWithValues: stored.map { ($0.name.lowercased(), $0) })
        }
    }

    /// By name, without case.
    public func hub(named name: String) -> Hub? {
        hubs.withLock { $0[name.lowercased()] }
    }

    public func hub(_ id: Hub.ID) -> Hub? {
        hubs.withLock { hubs in hubs.values.first { $0.id == id } }
    }

    /// What a hub sends to a platform with: its own credential, or the fallback.
    func credential(for platform: PlatformID, of id: Hub.ID) -> Credential? {
        hub(id).flatMap { $0.credentials[platform] ?? fallbacks[platform] }
    }

    /// Every hub, by name.
    public var all: [Hub] {
        hubs.withLock { $0.values.sorted { $0.name.lowercased() < $1.name.lowercased() } }
    }

    /// Creates a hub with the two rules that every hub has.
    public func create(_ name: String) async throws(HubDirectoryError) -> Hub {
        guard HubName.isValid(name) else { throw .badName(name) }
        let now = time.now
        let rules = [
            AccessRule(name: AccessRule.defaultListenName, rights: .listen, at: now),
            AccessRule(name: AccessRule.defaultFullName, rights: [.listen, .send, .manage], at: now),
        ]
        let created: Hub?
        do throws(StorageError) {
            created = try await store.createHub(name: name, accessRules: rules, at: now)
        } catch {
            throw .storage(error)
        }
        guard let hub = created else { throw .exists(name) }
        hubs.withLock { $0[name.lowercased()] = hub }
        return hub
    }

    /// Sets, or with nil removes, the credential of a platform, after its push service has checked it.
    public func setCredential(
        _ credential: Credential?, for platform: PlatformID, of name: String
    ) async throws(HubDirectoryError) {
        guard var hub = hub(named: name) else { throw .notFound(name) }
        if let credential {
            guard let service = services[platform] else { throw .unknownPlatform(platform) }
            do throws(PushServiceError) {
                _ = try service.init(credential: credential)
            } catch {
                throw .badCredential(error)
            }
        }
        hub.credentials[platform] = credential
        try await update(hub)
    }

    /// Removes a hub with everything in it. It is not to be found from the beginning, though removing a large one takes a
    /// while; its name is free once the store has given it up.
    public func delete(_ name: String) async throws(HubDirectoryError) {
        let removed = hubs.withLock { $0.removeValue(forKey: name.lowercased()) }
        guard let hub = removed else { throw .notFound(name) }
        do throws(StorageError) {
            _ = try await store.deleteHub(hub.id)
        } catch {
            // What the store still has is shown; where even that cannot be read, the next start tells.
            try? await reload()
            throw .storage(error)
        }
    }

    private func update(_ hub: Hub) async throws(HubDirectoryError) {
        let isThere: Bool
        do throws(StorageError) {
            isThere = try await store.updateHub(hub)
        } catch {
            throw .storage(error)
        }
        let key = hub.name.lowercased()
        let isShown = hubs.withLock { hubs in
            // Deleted meanwhile, it stays so.
            guard hubs[key]?.id == hub.id else { return false }
            hubs[key] = hub
            return true
        }
        guard isThere, isShown else { throw .notFound(hub.name) }
    }
}

/// Why a hub could not be made or changed.
public enum HubDirectoryError: Error, Sendable, CustomStringConvertible {
    case badName(String)
    case exists(String)
    case notFound(String)
    case unknownPlatform(PlatformID)
    case badCredential(PushServiceError)
    case storage(StorageError)

    public var description: String {
        switch self {
        case .badName(let name):
            "'\(name.prefix(80))' cannot name a hub: use 1 to 260 letters, digits, '.', '_' and '-', beginning with a "
                + "letter or digit, and none of the reserved names \(HubName.reserved.sorted().joined(separator: ", "))."
        case .exists(let name): "A hub named '\(name)' exists already."
        case .notFound(let name): "There is no hub named '\(name.prefix(80))'."
        case .unknownPlatform(let platform): "There is no push service named '\(platform)'."
        case .badCredential(let error): "The credential cannot be used: \(error)"
        case .storage(let error): "The hub could not be stored: \(error)"
        }
    }
}

/// What may name a hub.
public enum HubName {
    /// First path segments that belong to the server.
    public static let reserved: Set<String> = [
        "api", "health", "metrics", "console", "admin", "simulator", "$resources",
    ]

    public static func isValid(_ name: String) -> Bool {
        guard (1...260).contains(name.utf8.count), let first = name.utf8.first else { return false }
        return isLetterOrDigit(first) && !reserved.contains(name.lowercased())
            && name.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
