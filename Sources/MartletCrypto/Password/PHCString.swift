/// An Argon2id hash, version 19, with its parameters and salt, in the PHC string format:
/// `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`, where salt and hash are in Base64 without padding.
struct PHCString: Equatable, CustomStringConvertible {
    let parameters: Argon2id.Parameters
    let salt: [UInt8]
    let hash: [UInt8]

    /// The allowed lengths of the salt and the hash in stored strings, in bytes.
    ///
    /// The limits are set here because RFC 9106, section 3.1, has no useful upper limits.
    private static let saltByteCounts = 8...1024
    private static let hashByteCounts = 4...1024

    init(parameters: Argon2id.Parameters, salt: [UInt8], hash: [UInt8]) {
        self.parameters = parameters
        self.salt = salt
        self.hash = hash
    }

    /// Parses a PHC string.
    /// - Returns: nil if the text has any other format.
    init?(_ text: String) {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 6, fields[0].isEmpty, fields[1] == "argon2id", fields[2] == "v=19",
            let parameters = Self.parameters(fields[3]),
            let salt = Self.bytes(fields[4], Self.saltByteCounts), let hash = Self.bytes(fields[5], Self.hashByteCounts)
        else { return nil }
        self.init(parameters: parameters, salt: salt, hash: hash)
    }

    var description: String {
        let costs = "m=\(parameters.memory),t=\(parameters.iterations),p=\(parameters.parallelism)"
        return "$argon2id$v=19$\(costs)$\(Self.text(salt))$\(Self.text(hash))"
    }

    private static func parameters(_ field: Substring) -> Argon2id.Parameters? {
        let costs = field.split(separator: ",", omittingEmptySubsequences: false)
        guard costs.count == 3,
            let memory = cost("m=", costs[0]),
            let iterations = cost("t=", costs[1]),
            let parallelism = cost("p=", costs[2])
        else { return nil }
        return Argon2id.Parameters(memory: memory, iterations: iterations, parallelism: parallelism)
    }

    private static func cost(_ name: String, _ field: Substring) -> UInt32? {
        field.hasPrefix(name) ? UInt32(field.dropFirst(name.count)) : nil
    }

    private static func bytes(_ field: Substring, _ counts: ClosedRange<Int>) -> [UInt8]? {
        guard let bytes = Base64Alphabet.standard.decode(Array(field.utf8), padded: false),
            counts.contains(bytes.count)
        else { return nil }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) -> String { Base64Alphabet.standard.encode(bytes, padded: false) }
}
