import MartletModel

extension DeviceKeyPair {
    /// The key pair in the form that a store keeps. Anyone who reads these bytes can decrypt the messages for this
    /// device.
    public var bytes: [UInt8] {
        let members: JSON = [
            "privateKey": .string(Base64.urlSafe.encode(privateKey)),
            "publicKey": .string(Base64.urlSafe.encode(key.publicKey)),
            "authSecret": .string(Base64.urlSafe.encode(key.authSecret)),
        ]
        return members.bytes
    }

    /// Reads the value of `bytes`; nil if the bytes have another form.
    public init?(bytes: [UInt8]) {
        guard let members = try? JSON(parsing: bytes) else { return nil }
        func member(_ name: String) -> [UInt8] { members[name]?.string.flatMap { Base64.urlSafe.decode($0) } ?? [] }
        guard let key = DeviceKey(publicKey: member("publicKey"), authSecret: member("authSecret")),
            !member("privateKey").isEmpty
        else { return nil }
        self.init(privateKey: member("privateKey"), key: key)
    }
}
