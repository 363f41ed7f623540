import MartletModel
import Synchronization

/// The push service of each lane, as it was last made of the lane's credential: reading a credential costs as much as
/// hundreds of pushes, and most deliveries are over with their first page.
final class PushServiceCache: Sendable {
    private struct Entry {
        var credential: Credential
        var service: any PushService
    }

    private let entries: Mutex<ByteBoundedCache<LaneID, Entry>>

    /// - Parameter byteLimit: How much memory they may take: a few hundred lanes with credentials as they are.
    init(byteLimit: Int = 8 << 20) {
        entries = Mutex(ByteBoundedCache(byteLimit: byteLimit))
    }

    /// How much memory they take, in bytes.
    var bytes: Int { entries.withLock(\.bytes) }

    func contains(_ lane: LaneID) -> Bool { entries.withLock { $0.contains(lane) } }

    /// What sends for a lane with a credential.
    /// - Throws: `PushServiceError` where the credential is not usable; then nothing is kept.
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

    /// The hub is gone.
    func forget(_ hub: Hub.ID) {
        entries.withLock { $0.removeAll { lane, _ in lane.hub == hub } }
    }

    /// The lane has no credential any more.
    func forget(_ lane: LaneID) {
        entries.withLock { $0.removeValue(for: lane) }
    }

    /// The text is kept twice, as it is and as the service reads it; OpenSSL's form of keys and certificates is some
    /// kilobytes more.
    private static func bytes(of credential: Credential) -> Int {
        let texts = credential.properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
        return 2 * texts + 8192
    }
}
