import MartletModel

/// A device of the user to whom a message is sent, with the key that the server reports for the device.
struct Recipient {
    let device: String
    let platform: String
    let key: DeviceKey
    let fingerprint: KeyFingerprint

    /// Reads the answer of `GET /api/users/{name}/keys`.
    /// - Returns: nil if the answer has another form, a key is malformed, or a device is listed twice.
    static func all(
        in answer: JSON, _ cryptography: any ClientCryptography
    ) throws(ClientCryptographyError) -> [Recipient]? {
        guard let entries = answer["devices"]?.array else { return nil }
        var recipients: [Recipient] = []
        for entry in entries {
            func bytes(_ name: String) -> [UInt8] { entry[name]?.string.flatMap { Base64.urlSafe.decode($0) } ?? [] }
            guard let device = entry["device"]?.string, !device.isEmpty,
                let key = DeviceKey(publicKey: bytes("publicKey"), authSecret: bytes("authSecret"))
            else { return nil }
            recipients.append(
                Recipient(
                    device: device, platform: entry["platform"]?.string ?? "", key: key,
                    fingerprint: try KeyFingerprint(of: key, cryptography)))
        }
        return Set(recipients.map(\.device)).count == recipients.count ? recipients : nil
    }
}
