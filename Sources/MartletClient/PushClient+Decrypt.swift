import MartletModel

extension PushClient {
    /// Decrypts the message of a push. If the push only carries an id, the message is fetched first.
    /// - Throws: `PushClientError`: `encryptionNotSetUp`, `noKey` if this device has no key, `encryptionFailed`,
    ///   `storageProblem`, and the errors of fetching.
    public func decrypt(_ push: EncryptedPush) async throws(PushClientError) -> DecryptedMessage {
        let encryption = try needEncryption()
        switch push {
        case .content(let text): return try await encryption.decrypt(text)
        case .stored(let id): return try await encryption.decrypt(try await ciphertext(id))
        }
    }

    /// Returns the fingerprint of this device's key, to be compared with the fingerprint that senders see; nil before
    /// the first registration.
    public func fingerprint() async throws(PushClientError) -> KeyFingerprint? {
        let encryption = try needEncryption()
        guard let keyPair = try await encryption.keyPair() else { return nil }
        do throws(ClientCryptographyError) {
            return try KeyFingerprint(of: keyPair.key, encryption.cryptography)
        } catch {
            throw PushClientError(MessageCodingError(error))
        }
    }

    /// Returns the JSON members that describe the device's key in a registration. Creates the key if there is none yet.
    /// Returns no members if the app does not use end-to-end encryption.
    func keyMembers() async throws(RetryableFailure) -> [String: JSON] {
        guard let encryption else { return [:] }
        do throws(PushClientError) {
            let key = try await encryption.deviceKey()
            return [
                "PublicKey": .string(Base64.urlSafe.encode(key.publicKey)),
                "AuthSecret": .string(Base64.urlSafe.encode(key.authSecret)),
            ]
        } catch {
            throw RetryableFailure(error: error)
        }
    }

    private func ciphertext(_ id: Int32) async throws(PushClientError) -> String {
        guard let text = try await json("/api/notifications/\(id)")["Ciphertext"]?.string else { throw Self.otherKind }
        return text
    }
}

extension EndToEndEncryption {
    /// Decrypts an encrypted message without contacting a server, as a notification service extension needs to.
    /// - Parameter content: The message in Base64, as pushes carry it.
    /// - Throws: `PushClientError`: `noKey` if this device has no key, `encryptionFailed`, `storageProblem`.
    public func decrypt(_ content: String) async throws(PushClientError) -> DecryptedMessage {
        guard let keyPair = try await keyPair() else {
            throw PushClientError(.noKey, "This device has no key to decrypt with.")
        }
        do throws(MessageCodingError) {
            guard let bytes = Base64.standard.decode(content) else { throw .malformed }
            return DecryptedMessage(bytes: try MessageCoding(cryptography).decrypt(bytes, with: keyPair))
        } catch {
            throw PushClientError(error)
        }
    }

    func keyPair() async throws(PushClientError) -> DeviceKeyPair? {
        do throws(StorageProblem) {
            return try await keyPairs.load()
        } catch {
            throw PushClientError(error)
        }
    }

    /// Returns this device's key. If there is no key yet, creates one.
    func deviceKey() async throws(PushClientError) -> DeviceKey {
        if let keyPair = try await keyPair() { return keyPair.key }
        let keyPair: DeviceKeyPair
        do throws(ClientCryptographyError) {
            keyPair = try DeviceKeyPair.generate(cryptography)
        } catch {
            throw PushClientError(MessageCodingError(error))
        }
        do throws(StorageProblem) {
            try await keyPairs.save(keyPair)
        } catch {
            throw PushClientError(error)
        }
        return keyPair.key
    }
}
