import MartletConsole
import MartletCore
import MartletModel
import Synchronization

/// Finds out when the credentials of hubs expire.
///
/// Only certificates expire. A credential that is a key has no expiry and is left out.
final class CredentialExpiries: Sendable {
    /// The maximum number of hubs that are reported individually, in the order of their names.
    ///
    /// For all further hubs, only the earliest expiry is reported.
    static let hubLimit = 100
    /// The value of the label `hub` for all further hubs.
    ///
    /// No hub can have this name.
    static let otherHubs = "_other"

    private struct Key: Hashable {
        var hub: Hub.ID
        var platform: PlatformID
    }

    private struct Known {
        var credential: Credential
        var expiresAt: Timestamp?
    }

    private let hubs: HubDirectory
    private let platforms: PushPlatformList
    /// The expiries that were found earlier. They are kept because reading a credential takes more time than all other
    /// work here.
    private let known = Mutex<[Key: Known]>([:])

    init(hubs: HubDirectory, platforms: PushPlatformList) {
        self.hubs = hubs
        self.platforms = platforms
    }

    /// Returns the number of seconds until each credential expires, by hub and platform. All hubs beyond the first
    /// `hubLimit` share one value per platform: that of their credential that expires first.
    func samples(at now: Timestamp) async -> [(labels: [String], value: Double)] {
        // This work does not run on the event loop that received the request, because many credentials may be new.
        await Task.detached { self.samples(of: self.read(), at: now) }.value
    }

    /// Returns all credentials that expire, each with the time when it expires.
    func ends() async -> [ConsoleSample.CredentialEnd] {
        await Task.detached {
            self.read().map { ConsoleSample.CredentialEnd(hub: $0.hub, platform: $0.platform.rawValue, at: $0.at) }
        }.value
    }

    private struct Expiry {
        var hub: String
        var platform: PlatformID
        var at: Timestamp
    }

    private func samples(of expiries: [Expiry], at now: Timestamp) -> [(labels: [String], value: Double)] {
        var named: Set<String> = []
        var soonest: [[String]: Double] = [:]
        for expiry in expiries {
            if named.count < Self.hubLimit { named.insert(expiry.hub) }
            let hub = named.contains(expiry.hub) ? expiry.hub : Self.otherHubs
            let left = (expiry.at - now).inSeconds
            soonest[[hub, expiry.platform.rawValue], default: left].lower(to: left)
        }
        return soonest.map { (labels: $0.key, value: $0.value) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    private func read() -> [Expiry] {
        let before = known.withLock { $0 }
        var now: [Key: Known] = [:]
        var expiries: [Expiry] = []
        for hub in hubs.all {
            for (platform, credential) in hub.settings.credentials {
                let key = Key(hub: hub.id, platform: platform)
                let old = before[key].flatMap { $0.credential == credential ? $0 : nil }
                let entry = old ?? Known(credential: credential, expiresAt: expiry(of: credential, platform))
                now[key] = entry
                if let timestamp = entry.expiresAt {
                    expiries.append(Expiry(hub: hub.name, platform: platform, at: timestamp))
                }
            }
        }
        known.withLock { $0 = now }
        return expiries
    }

    private func expiry(of credential: Credential, _ platform: PlatformID) -> Timestamp? {
        guard let service = platforms.service(platform) else { return nil }
        return (try? service.init(credential: credential))?.expiresAt
    }
}

extension Double {
    fileprivate mutating func lower(to other: Double) { self = min(self, other) }
}
