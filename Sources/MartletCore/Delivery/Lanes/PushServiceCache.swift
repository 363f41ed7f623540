import MartletModel
import Synchronization

/// Caches the push service that was last made from each lane's credential: reading a credential costs as much as
/// hundreds of pushes, and most deliveries end with their first page.
final class PushServiceCache: Sendable {
    private struct Entry {
        var credential: Credential
        var service: any PushService
    }

    private let entries: Mutex<ByteBoundedCache<LaneID, Entry>>

    /// - Parameter byteLimit: The most memory that they may take, in bytes: enough for a few hundred lanes with
    ///   ordinary credentials.
    init(byteLimit: Int = 8 << 20) {
        entries = Mutex(ByteBoundedCache(byteLimit: byteLimit))
    }

    /// The approximate memory of all services, in bytes.
    var bytes: Int { entries.withLock(\.bytes) }

    func contains(_ lane: LaneID) -> Bool { entries.withLock { $0.contains(lane) } }

    /// Returns the push service of a lane for a credential.
    /// - Throws: `PushServiceError` if the credential is not usable; then nothing is cached.
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

    /// Drops the push services of a hub that was deleted.
    func forget(_ hub: Hub.ID) {
        entries.withLock { $0.removeAll { lane, _ in lane.hub == hub } }
    }

    /// Drops the push service of a lane that has no credential any more.
    func forget(_ lane: LaneID) {
        entries.withLock { $0.removeValue(for: lane) }
    }

    /// The text is kept twice, as it is and as the service reads it; OpenSSL's objects for keys and certificates take
    /// some kilobytes more.
    private static func bytes(of credential: Credential) -> Int {
        let texts = credential.properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
        return 2 * texts + 8192
    }
}
