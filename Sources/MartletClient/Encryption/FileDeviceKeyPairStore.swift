/// Keeps the key pair in a file that only its owner can read (mode 0600), for systems without a keychain.
public actor FileDeviceKeyPairStore: DeviceKeyPairStore {
    private let file: KeyFile

    /// - Parameter path: The path of the file. The file and its folder are created when a key pair is first saved.
    public init(path: String) {
        file = KeyFile(path: path)
    }

    public func load() throws(StorageProblem) -> DeviceKeyPair? {
        guard let bytes = try file.read() else { return nil }
        guard let keyPair = DeviceKeyPair(bytes: bytes) else {
            throw StorageProblem("\(file.path) holds no key pair; remove it to have another made.")
        }
        return keyPair
    }

    public func save(_ keyPair: DeviceKeyPair?) throws(StorageProblem) {
        if let keyPair { try file.write(keyPair.bytes) } else { file.remove() }
    }
}
