import Glibc
import MartletCore
import MartletCrypto
import MartletHubAPI

/// The one secret from which a server's other keys are derived: 32 random bytes in `secret.key`, or in the environment
/// variable `MARTLET_SECRET_KEY` as 64 hexadecimal digits where they are to be kept away from the data.
struct ServerKey: Sendable {
    static let environmentVariable = "MARTLET_SECRET_KEY"

    private let secret: SecretBytes

    /// Reads the key, or makes one where the data directory is new.
    static func open(in directory: String) throws(StorageError) -> ServerKey {
        do throws(ServerError) {
            return try ServerKey(in: directory)
        } catch {
            throw StorageError(.unavailable, error.description)
        }
    }

    private init(in directory: String) throws(ServerError) {
        if let text = getenv(Self.environmentVariable) {
            guard let bytes = Hex.decode(String(cString: text)), bytes.count == AESGCM.keyByteCount else {
                throw ServerError("\(Self.environmentVariable) must be 64 hexadecimal digits.")
            }
            secret = SecretBytes(bytes)
            return
        }
        try SecretFile.makeDirectory(directory)
        let path = "\(directory)/secret.key"
        if try SecretFile.read(path) == nil {
            try SecretFile.create(RandomBytes.generate(AESGCM.keyByteCount), at: path)
        }
        guard let bytes = try SecretFile.read(path), bytes.count == AESGCM.keyByteCount else {
            throw ServerError("\(path) is damaged: a key has \(AESGCM.keyByteCount) bytes.")
        }
        secret = SecretBytes(bytes)
    }

    /// What seals secrets in the database.
    func sealer() throws(StorageError) -> AESSealer {
        do throws(CryptoError) {
            return AESSealer(try AESGCM(key: SecretBytes(try derive("seal", count: AESGCM.keyByteCount))))
        } catch {
            throw StorageError(.unavailable, "The sealing key cannot be used: \(error)")
        }
    }

    /// What message ids are made with.
    func messageIDKey() throws(ServerError) -> MessageIDKey {
        do throws(CryptoError) {
            let bytes = try derive("message-id", count: 16)
            let words = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            return MessageIDKey(words[0], words[1])
        } catch {
            throw ServerError("The message id key cannot be derived: \(error)")
        }
    }

    /// What signs the URLs of containers and blobs.
    func urlSigner() throws(ServerError) -> URLSigner {
        do throws(CryptoError) {
            return try URLSigner(key: try derive("signed-url", count: 32))
        } catch {
            throw ServerError("The key of signed URLs cannot be derived: \(error)")
        }
    }

    private func derive(_ purpose: String, count: Int) throws(CryptoError) -> [UInt8] {
        try HKDF.derive(count, from: secret.bytes, salt: [], info: Array("martlet \(purpose)".utf8))
    }
}

/// Seals with AES-256-GCM; the context is authenticated with the secret.
struct AESSealer: Sealer {
    private let cipher: AESGCM

    init(_ cipher: AESGCM) {
        self.cipher = cipher
    }

    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8] {
        do throws(CryptoError) {
            return try cipher.seal(secret, associatedData: Array(context.utf8))
        } catch {
            throw StorageError(.unavailable, "A secret could not be sealed: \(error)")
        }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        try? cipher.open(sealed, associatedData: Array(context.utf8))
    }
}
