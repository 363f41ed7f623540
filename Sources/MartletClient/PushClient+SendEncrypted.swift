import MartletModel

extension PushClient {
    /// Sends a text that only the devices of one user can read: neither the push services nor the server can.
    ///
    /// The keys of the user's devices are pinned when something is first sent to that user. From then on, nothing is
    /// sent if a device has a key that is not pinned: the error is of kind `keysChanged`. In this case, show the
    /// fingerprints of the keys. Once the recipient has confirmed them, call `trust(_:)` and send again.
    ///
    /// At the first send, a malicious server could still substitute other keys. To prevent that, compare the
    /// fingerprints that `keys(of:)` returns and call `trust(_:)` before the first send.
    ///
    /// - Parameters:
    ///   - text: At most `MessageCoding.messageLimit` bytes in UTF-8.
    ///   - user: The name of one user.
    ///   - message: The text shown by devices that cannot decrypt; every party on the way can read it. nil means a
    ///     default text.
    ///   - expiresIn: How long the server keeps messages that do not fit into a push; nil means the server's default.
    /// - Returns: The deliveries, one for each of the user's devices that has a key.
    /// - Throws: `PushClientError`: `keysChanged`, `noKey` if no device has a key, and the errors of `send`.
    @discardableResult
    public func sendEncrypted(
        _ text: String, to user: String, message: String? = nil, expiresIn: Duration? = nil
    ) async throws(PushClientError) -> [EncryptedDelivery] {
        try await sendEncrypted(Array(text.utf8), to: user, message: message, expiresIn: expiresIn)
    }

    /// Sends bytes that only the devices of one user can read. Otherwise it works like
    /// `sendEncrypted(_:to:message:expiresIn:)`.
    @discardableResult
    public func sendEncrypted(
        _ bytes: [UInt8], to user: String, message: String? = nil, expiresIn: Duration? = nil
    ) async throws(PushClientError) -> [EncryptedDelivery] {
        let encryption = try needEncryption()
        guard bytes.count <= MessageCoding.messageLimit else {
            throw PushClientError(.messageTooLong, MessageCodingError.tooLong.description)
        }
        let sender = lastUser
        func attempt() async throws(PushClientError) -> ClientResponse {
            let recipients = try await trustedRecipients(of: user, encryption)
            guard sender == lastUser else { throw .superseded }
            var body: [String: JSON] = [
                "to": .string(user),
                "ciphertexts": .array(try Self.ciphertexts(of: bytes, for: recipients, encryption)),
            ]
            body["message"] = message.map { .string($0) }
            body["expiresIn"] = expiresIn.map { .integer($0.components.seconds) }
            let json = JSON.object(body)
            return try await retrying(isRepeatable: false) { () throws(RetryableFailure) in
                try await ask("POST", "/api/notifications/encrypted", json)
            }
        }
        var answer = try await attempt()
        // The server refused the message, because a device of the recipient has registered again since the keys were
        // read. Nothing was sent, so the message is encrypted again with the current keys.
        if answer.status == 409 { answer = try await attempt() }
        guard answer.status == 201 else { throw RetryableFailure(answer).error }
        let devices = (try? JSON(parsing: answer.body))?["devices"]?.array ?? []
        return devices.map { entry in
            EncryptedDelivery(
                device: entry["device"]?.string ?? "", storedID: entry["id"]?.integer.flatMap { Int32(exactly: $0) })
        }
    }

    /// Returns the fingerprints of a user's keys as the server currently reports them, together with the pinned keys.
    /// Does not pin anything.
    public func keys(of user: String) async throws(PushClientError) -> UserKeys {
        let encryption = try needEncryption()
        return try await compare(try await recipients(of: user, encryption), of: user, encryption)
    }

    /// Trusts exactly these keys. A key that was pinned before, but is not one of these keys, is no longer trusted.
    /// - Parameter keys: The keys from an error of kind `keysChanged`, or from `keys(of:)`.
    public func trust(_ keys: UserKeys) async throws(PushClientError) {
        let pins = try needEncryption().pins
        do throws(StorageProblem) {
            try await pins.setPins(keys.present, of: keys.owner)
        } catch {
            throw PushClientError(error)
        }
    }
}

extension PushClient {
    func needEncryption() throws(PushClientError) -> EndToEndEncryption {
        guard let encryption else {
            throw PushClientError(.encryptionNotSetUp, "This app is not set up for end-to-end encryption.")
        }
        return encryption
    }

    private func recipients(
        of user: String, _ encryption: EndToEndEncryption
    ) async throws(PushClientError) -> [Recipient] {
        let answer = try await retrying { () throws(RetryableFailure) in
            let answer = try await ask("GET", "/api/users/\(percentEncoded(user))/keys")
            guard answer.status == 200 else { throw RetryableFailure(answer) }
            return answer
        }
        let recipients: [Recipient]?
        do throws(ClientCryptographyError) {
            recipients = try Recipient.all(in: (try? JSON(parsing: answer.body)) ?? .null, encryption.cryptography)
        } catch {
            throw PushClientError(MessageCodingError(error))
        }
        guard let recipients else {
            throw PushClientError(.serverProblem(status: answer.status), "The server gave keys that are none.")
        }
        return recipients
    }

    private func compare(
        _ recipients: [Recipient], of user: String, _ encryption: EndToEndEncryption
    ) async throws(PushClientError) -> UserKeys {
        let owner = KeyOwner(user, at: server.description)
        let devices = recipients.map {
            DeviceFingerprint(device: $0.device, platform: $0.platform, fingerprint: $0.fingerprint)
        }
        do throws(StorageProblem) {
            return UserKeys(user, owner: owner, devices: devices, pins: try await encryption.pins.pins(of: owner))
        } catch {
            throw PushClientError(error)
        }
    }

    /// Returns the devices to encrypt for. At the first send to a user, pins the keys of the user's devices.
    private func trustedRecipients(
        of user: String, _ encryption: EndToEndEncryption
    ) async throws(PushClientError) -> [Recipient] {
        let recipients = try await recipients(of: user, encryption)
        guard !recipients.isEmpty else {
            throw PushClientError(.noKey, "\(user) has no device to encrypt for.")
        }
        let keys = try await compare(recipients, of: user, encryption)
        guard keys.isTrusted else {
            throw PushClientError(
                .keysChanged(keys),
                "\(user) has a device with a key that you have not sent to before: compare "
                    + "fingerprints with \(user), then trust it or do not send.")
        }
        if keys.isFirstUse { try await trust(keys) }
        return recipients
    }

    private static func ciphertexts(
        of bytes: [UInt8], for recipients: [Recipient], _ encryption: EndToEndEncryption
    ) throws(PushClientError) -> [JSON] {
        let coding = MessageCoding(encryption.cryptography)
        var ciphertexts: [JSON] = []
        for recipient in recipients {
            let ciphertext: [UInt8]
            do throws(MessageCodingError) {
                ciphertext = try coding.encrypt(bytes, for: recipient.key)
            } catch .malformedKey {
                throw PushClientError(.serverProblem(status: 200), "The server gave keys that are none.")
            } catch {
                throw PushClientError(error)
            }
            ciphertexts.append([
                "device": .string(recipient.device), "fingerprint": .string(recipient.fingerprint.text),
                "ciphertext": .string(Base64.standard.encode(ciphertext)),
            ])
        }
        return ciphertexts
    }
}
