import CMartletArgon2
import Glibc

/// Password hashing with Argon2id (RFC 9106), in PHC string form: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
///
/// `hash` and `verify` take tens of milliseconds by design, so never call them on an event loop.
public enum Argon2id {
    /// The cost of one hash.
    public struct Parameters: Sendable, Equatable {
        /// The amount of memory, in KiB.
        public var memory: UInt32
        /// The number of passes over the memory.
        public var iterations: UInt32
        /// The number of Argon2 lanes, each computed by its own thread.
        public var parallelism: UInt32

        public init(memory: UInt32, iterations: UInt32, parallelism: UInt32) {
            self.memory = memory
            self.iterations = iterations
            self.parallelism = parallelism
        }

        /// The standard cost: 19 MiB, two passes, one Argon2 lane.
        public static let standard = Parameters(memory: 19_456, iterations: 2, parallelism: 1)

        /// Parses the parameters of a PHC string; nil if the string is not a hash of Argon2id, version 19.
        public init?(phc: String) {
            guard let phc = PHCString(phc) else { return nil }
            self = phc.parameters
        }

        // True if a stored string with these parameters can be verified without gigabytes of memory and minutes of
        // time.
        var areReasonable: Bool { memory <= 1 << 20 && iterations <= 64 && parallelism <= 16 }
    }

    private static let saltByteCount = 16
    private static let hashByteCount = 32

    /// Hashes `password` with a new random salt. Returns a PHC string.
    public static func hash(
        _ password: [UInt8], parameters: Parameters = .standard
    ) throws(CryptoError) -> String {
        try hash(password, salt: RandomBytes.generate(saltByteCount), parameters: parameters)
    }

    /// Returns true if `phc` is the hash of `password`. Returns false if the string is not Argon2id in PHC form, or if
    /// it requires more than 1 GiB, 64 passes or 16 Argon2 lanes.
    public static func verify(_ password: [UInt8], against phc: String) -> Bool {
        guard let phc = PHCString(phc), phc.parameters.areReasonable,
            let hash = try? rawHash(password, salt: phc.salt, byteCount: phc.hash.count, parameters: phc.parameters)
        else { return false }
        return ConstantTime.areEqual(hash, phc.hash)
    }

    static func hash(_ password: [UInt8], salt: [UInt8], parameters: Parameters) throws(CryptoError) -> String {
        let hash = try rawHash(password, salt: salt, byteCount: hashByteCount, parameters: parameters)
        return PHCString(parameters: parameters, salt: salt, hash: hash).description
    }

    private static func rawHash(
        _ password: [UInt8], salt: [UInt8], byteCount: Int, parameters: Parameters
    ) throws(CryptoError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: byteCount)
        let result = hash.withUnsafeMutableBufferPointer { hash in
            password.withUnsafeBufferPointer { password in
                salt.withUnsafeBufferPointer { salt in
                    var context = argon2_context()
                    context.out = hash.baseAddress
                    context.outlen = UInt32(hash.count)
                    // Argon2 does not write to the password or the salt, because the flags that clear them are not set.
                    context.pwd = UnsafeMutablePointer(mutating: password.baseAddress)
                    context.pwdlen = UInt32(password.count)
                    context.salt = UnsafeMutablePointer(mutating: salt.baseAddress)
                    context.saltlen = UInt32(salt.count)
                    context.t_cost = parameters.iterations
                    context.m_cost = parameters.memory
                    context.lanes = parameters.parallelism
                    context.threads = parameters.parallelism
                    context.version = ARGON2_VERSION_13.rawValue
                    context.allocate_cbk = mapPages
                    context.free_cbk = unmapPages
                    return argon2id_ctx(&context)
                }
            }
        }
        guard result == ARGON2_OK.rawValue else { throw .failed(operation: "Argon2id") }
        return hash
    }
}

/// Allocates the memory of a hash directly from the kernel, so that the memory returns to the kernel after the hash.
/// malloc would keep the freed memory in arenas, one for each of several threads. Each arena would stay as large as the
/// largest hash that was computed in it.
private func mapPages(_ memory: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int) -> Int32 {
    let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let isMapped = pages != MAP_FAILED
    memory?.pointee = isMapped ? pages?.assumingMemoryBound(to: UInt8.self) : nil
    return isMapped ? ARGON2_OK.rawValue : ARGON2_MEMORY_ALLOCATION_ERROR.rawValue
}

/// Frees the memory of a hash, which Argon2 has already wiped.
private func unmapPages(_ memory: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) {
    munmap(memory, byteCount)
}
