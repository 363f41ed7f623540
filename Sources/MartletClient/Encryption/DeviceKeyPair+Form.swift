import MartletModel

extension DeviceKeyPair {
    /// As it is kept in a file or in the keychain.
    var form: [UInt8] {
        let members: JSON = [
            "privateKey": .string(Base64.urlSafe.encode(privateKey)),
            "publicKey": .string(Base64.urlSafe.encode(key.publicKey)),
            "authSecret": .string(Base64.urlSafe.encode(key.authSecret)),
        ]
        return members.bytes
    }

    init?(form: [UInt8]) {
        guard let members = try? JSON(parsing: form) else { return nil }
        func bytes(_ name: String) -> [UInt8] { members[name]?.string.flatMap { Base64.urlSafe.decode($0) } ?? [] }
        guard let key = DeviceKey(publicKey: bytes("publicKey"), authSecret: bytes("authSecret")) else { return nil }
        self.init(privateKey: bytes("privateKey"), key: key)
    }
}
