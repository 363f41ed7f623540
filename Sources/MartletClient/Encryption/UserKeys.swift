/// The fingerprint of one device's key.
public struct DeviceFingerprint: Hashable, Sendable {
    /// The device's registration id.
    public let device: String
    /// The server's name for the device's push platform; empty for a device that the server no longer reports.
    public let platform: String
    /// The fingerprint of the device's key.
    public let fingerprint: KeyFingerprint
}

/// A user's keys as the server currently reports them, together with the pinned keys. Keys are pinned by the first send
/// to the user and by `PushClient.trust(_:)`.
///
/// A key that is not pinned may belong to a new telephone or to a new installation of the app. An attacker with access
/// to the server may also have added the key in order to read the messages. Only the user knows which is the case. So
/// compare the fingerprints with the user, then call `PushClient.trust(_:)`.
public struct UserKeys: Hashable, Sendable {
    /// The user's name as the caller wrote it.
    public let user: String
    /// The fingerprints that the server reports, one for each device.
    public let devices: [DeviceFingerprint]
    let owner: KeyOwner
    let pins: KeyPins?

    init(_ user: String, owner: KeyOwner, devices: [DeviceFingerprint], pins: KeyPins?) {
        self.user = user
        self.devices = devices.sorted { $0.device < $1.device }
        self.owner = owner
        self.pins = pins
    }

    /// Whether no key of the user is pinned yet. The first send then trusts and pins all keys that the server reports.
    public var isFirstUse: Bool { pins == nil }

    /// Whether a message can be sent without a call of `PushClient.trust(_:)`: every key is pinned, or no keys are
    /// pinned yet.
    public var isTrusted: Bool { added.isEmpty && changed.isEmpty }

    /// The devices whose key is not pinned and that had no pinned key before.
    public var added: [DeviceFingerprint] { unpinned.filter { pins?.fingerprints[$0.device] == nil } }

    /// The devices whose key differs from the pinned one, each with its current key.
    public var changed: [DeviceFingerprint] { unpinned.filter { pins?.fingerprints[$0.device] != nil } }

    /// The pinned keys that the server no longer reports.
    public var removed: [DeviceFingerprint] {
        let present = Set(devices.map(\.fingerprint))
        return (pins?.fingerprints ?? [:]).filter { !present.contains($0.value) }
            .map { DeviceFingerprint(device: $0.key, platform: "", fingerprint: $0.value) }
            .sorted { $0.device < $1.device }
    }

    /// The devices whose key is not pinned. A pinned key stays trusted if its device gets another registration id.
    private var unpinned: [DeviceFingerprint] {
        guard let pins else { return [] }
        let trusted = Set(pins.fingerprints.values)
        return devices.filter { !trusted.contains($0.fingerprint) }
    }

    /// The pins that replace the stored pins when the sender trusts these keys.
    var present: KeyPins { KeyPins(Dictionary(devices.map { ($0.device, $0.fingerprint) }) { first, _ in first }) }
}
