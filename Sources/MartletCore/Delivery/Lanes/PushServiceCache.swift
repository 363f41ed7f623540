import MartletModel
import Synchronization

/// Caches the latest push service of each lane. A push service is created with the lane's credential. Most deliveries
/// have only one page. Without the cache, each of these deliveries would parse the credential, which costs as much as
/// hundreds of pushes.
final class PushServiceCache: Sendable {
    private struct Entry {
        var credential: Credential
        var service: any PushService
    }

    private let entries: Mutex<ByteBoundedCache<LaneID, Entry>>

    /// - Parameter byteLimit: The maximum memory of the cached services, in bytes. The default has room for a few
    ///   hundred lanes with ordinary credentials.
    init(byteLimit: Int = 8 << 20) {
        entries = Mutex(ByteBoundedCache(byteLimit: byteLimit))
    }

    /// The approximate memory of all services, in bytes.
    var bytes: Int { entries.withLock(\.bytes) }

    func contains(_ lane: LaneID) -> Bool { entries.withLock { $0.contains(lane) } }

    /// Returns the push service of a lane for a credential.
    /// - Throws: `PushServiceError` if the credential is not usable. In that case nothing is cached.
    func service(
        _ type: any PushService.Type, of lane: LaneID, credential: Credential
    ) throws(PushServiceError) -> any PushService {
        if let known = entries.withLock({ $0.value(for: lane) }), known.credential == credential {
            return known.service
        }
        let service = try type.init(credential: credential)
        let entry = Entry(credential: credential, service: service)
        entries.withLock { $0.insert(entry, for: lane, bytes: Self.bytes(of: credential)) }
        return service
    }

    /// Removes the push services of a hub that was deleted, or for which another process sends now.
    func forget(_ hub: Hub.ID) {
        entries.withLock { $0.removeAll { lane, _ in lane.hub == hub } }
    }

    /// Removes the push service of a lane that no longer has a credential.
    func forget(_ lane: LaneID) {
        entries.withLock { $0.removeValue(for: lane) }
    }

    /// Returns the approximate memory of a credential and its push service, in bytes. The text of the credential is
    /// kept twice: once unchanged, and once as the service has parsed it. OpenSSL's objects for keys and certificates
    /// need some additional kilobytes.
    private static func bytes(of credential: Credential) -> Int {
        let texts = credential.properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
        return 2 * texts + 8192
    }
}
