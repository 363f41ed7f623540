import CMartletArgon2

/// Password hashing with Argon2id (RFC 9106), in PHC string form: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
///
/// Both functions work for tens of milliseconds on purpose: never call them on an event loop.
public enum Argon2id {
    /// The cost of one hash.
    public struct Parameters: Sendable, Equatable {
        /// Memory in KiB.
        public var memory: UInt32
        /// Passes over the memory.
        public var iterations: UInt32
        /// Lanes, each computed by a thread of its own.
        public var parallelism: UInt32

        public init(memory: UInt32, iterations: UInt32, parallelism: UInt32) {
            self.memory = memory
            self.iterations = iterations
            self.parallelism = parallelism
        }

        /// 19 MiB, two passes, one lane.
        public static let standard = Parameters(memory: 19_456, iterations: 2, parallelism: 1)

        /// The parameters of a PHC string; nil if it is not one of Argon2id, version 19.
        public init?(phc: String) {
            let fields = phc.split(separator: "$", omittingEmptySubsequences: false)
            guard fields.count == 6, fields[0].isEmpty, fields[1] == "argon2id", fields[2] == "v=19" else {
                return nil
            }
            let costs = fields[3].split(separator: ",", omittingEmptySubsequences: false)
            guard costs.count == 3,
                let memory = Self.cost("m=", costs[0]),
                let iterations = Self.cost("t=", costs[1]),
                let parallelism = Self.cost("p=", costs[2])
            else { return nil }
            self.init(memory: memory, iterations: iterations, parallelism: parallelism)
        }

        private static func cost(_ name: String, _ field: Substring) -> UInt32? {
            field.hasPrefix(name) ? UInt32(field.dropFirst(name.count)) : nil
        }

        // A stored string is data: it must not be able to make a check take gigabytes or minutes.
        var areReasonable: Bool { memory <= 1 << 20 && iterations <= 64 && parallelism <= 16 }
    }

    private static let saltByteCount = 16
    private static let hashByteCount = 32

    /// The PHC string of `password` under a fresh random salt.
    public static func hash(
        _ password: [UInt8], parameters: Parameters = .standard
    ) throws(CryptoError) -> String {
        try hash(password, salt: RandomBytes.generate(saltByteCount), parameters: parameters)
    }

    /// Whether `password` is the one `phc` was made of. A string that is not Argon2id in PHC form matches nothing,
    /// and neither does one that asks for more than 1 GiB, 64 passes or 16 lanes.
    public static func verify(_ password: [UInt8], against phc: String) -> Bool {
        guard let parameters = Parameters(phc: phc), parameters.areReasonable else { return false }
        return argon2id_verify(phc, password, password.count) == ARGON2_OK.rawValue
    }

    static func hash(_ password: [UInt8], salt: [UInt8], parameters: Parameters) throws(CryptoError) -> String {
        let capacity = argon2_encodedlen(
            parameters.iterations, parameters.memory, parameters.parallelism,
            UInt32(salt.count), UInt32(hashByteCount), Argon2_id)
        var encoded = [CChar](repeating: 0, count: capacity)
        let result = argon2id_hash_encoded(
            parameters.iterations, parameters.memory, parameters.parallelism,
            password, password.count, salt, salt.count, hashByteCount, &encoded, capacity)
        guard result == ARGON2_OK.rawValue else { throw .failed(operation: "Argon2id") }
        return String(decoding: encoded.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
