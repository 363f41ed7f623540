/// The fingerprint of one device's key.
public struct DeviceFingerprint: Hashable, Sendable {
    /// The device's registration id.
    public let device: String
    /// Its push platform in the server's word; empty where that is not known any more.
    public let platform: String
    /// The key's.
    public let fingerprint: KeyFingerprint
}

/// A user's keys as the server gives them now, beside those that were pinned when something was first sent to the user.
///
/// A key that is not pinned may be a new telephone, or a new installation of the app; it may also be one that somebody
/// at the server has put there to read what is sent. Only the user can tell which: compare the fingerprints, then call
/// `PushClient.trust(_:)`.
public struct UserKeys: Hashable, Sendable {
    /// The user's name, as it was asked for.
    public let user: String
    /// What the server gives, by device.
    public let devices: [DeviceFingerprint]
    let owner: KeyOwner
    let pins: KeyPins?

    init(_ user: String, owner: KeyOwner, devices: [DeviceFingerprint], pins: KeyPins?) {
        self.user = user
        self.devices = devices.sorted { $0.device < $1.device }
        self.owner = owner
        self.pins = pins
    }

    /// Whether nothing is pinned yet: whatever the server gives first is believed.
    public var isFirstUse: Bool { pins == nil }

    /// Whether every key is pinned, or none is yet.
    public var isTrusted: Bool { added.isEmpty && changed.isEmpty }

    /// Devices with a key that is not pinned, and that had none before.
    public var added: [DeviceFingerprint] { unpinned.filter { pins?.fingerprints[$0.device] == nil } }

    /// Devices that have another key than the pinned one, each with its present key.
    public var changed: [DeviceFingerprint] { unpinned.filter { pins?.fingerprints[$0.device] != nil } }

    /// Pinned keys that the server does not give any more.
    public var removed: [DeviceFingerprint] {
        let present = Set(devices.map(\.fingerprint))
        return (pins?.fingerprints ?? [:]).filter { !present.contains($0.value) }
            .map { DeviceFingerprint(device: $0.key, platform: "", fingerprint: $0.value) }
            .sorted { $0.device < $1.device }
    }

    /// A pinned key stays trusted when its device gets another registration id.
    private var unpinned: [DeviceFingerprint] {
        guard let pins else { return [] }
        let trusted = Set(pins.fingerprints.values)
        return devices.filter { !trusted.contains($0.fingerprint) }
    }

    /// What is pinned when these keys are trusted.
    var present: KeyPins { KeyPins(Dictionary(devices.map { ($0.device, $0.fingerprint) }) { first, _ in first }) }
}
