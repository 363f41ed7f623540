import MartletModel

/// Stores the pins in a file that only its owner can read and write (mode 0600).
///
/// The file is JSON and contains servers' addresses, users, devices and fingerprints.
public actor FileKeyPinStore: KeyPinStore {
    private let file: KeyFile

    /// - Parameter path: The path of the file. The file and its folder are created when pins are first saved.
    public init(path: String) {
        file = KeyFile(path: path)
    }

    public func pins(of owner: KeyOwner) throws(StorageProblem) -> KeyPins? {
        guard let devices = try servers()[owner.server]?[owner.user]?.object else { return nil }
        var fingerprints: [String: KeyFingerprint] = [:]
        for (device, text) in devices {
            guard let fingerprint = text.string.flatMap(KeyFingerprint.init(text:)) else { throw notPins }
            fingerprints[device] = fingerprint
        }
        return KeyPins(fingerprints)
    }

    public func setPins(_ pins: KeyPins, of owner: KeyOwner) throws(StorageProblem) {
        try file.locked { () throws(StorageProblem) in
            var servers = try servers()
            var users = servers[owner.server]?.object ?? [:]
            users[owner.user] = .object(pins.fingerprints.mapValues { .string($0.text) })
            servers[owner.server] = .object(users)
            try file.write(JSON.object(servers).bytes)
        }
    }

    private func servers() throws(StorageProblem) -> [String: JSON] {
        guard let bytes = try file.read() else { return [:] }
        guard let servers = (try? JSON(parsing: bytes))?.object,
            servers.values.allSatisfy({ $0.object?.values.allSatisfy { $0.object != nil } ?? false })
        else { throw notPins }
        return servers
    }

    private var notPins: StorageProblem {
        StorageProblem("\(file.path) holds no pins; put it aside, then compare everybody's fingerprints anew.")
    }
}
