import MartletModel
import Synchronization

/// The push service of each lane, as it was last made of the lane's credential: reading a credential costs as much as
/// hundreds of pushes, and most deliveries are over with their first page.
final class KnownServices: Sendable {
    private struct Entry {
        var credential: Credential
        var service: any PushService
    }

    private let entries = Mutex<[LaneID: Entry]>([:])

    /// Where there are more lanes, all are forgotten.
    private static let limit = 1024

    /// What sends for a lane with a credential.
    /// - Throws: `PushServiceError` where the credential is not usable; then nothing is kept.
    func service(
        _ type: any PushService.Type, of lane: LaneID, credential: Credential
    ) throws(PushServiceError) -> any PushService {
        if let known = entries.withLock({ $0[lane] }), known.credential == credential { return known.service }
        let service = try type.init(credential: credential)
        entries.withLock { entries in
            if entries.count >= Self.limit, entries[lane] == nil { entries = [:] }
            entries[lane] = Entry(credential: credential, service: service)
        }
        return service
    }

    /// The hub is gone.
    func forget(_ hub: Hub.ID) {
        entries.withLock { entries in entries = entries.filter { $0.key.hub != hub } }
    }

    /// The lane has no credential any more.
    func forget(_ lane: LaneID) {
        entries.withLock { _ = $0.removeValue(forKey: lane) }
    }
}
