import CMartletOpenSSL

/// Random bytes from OpenSSL's generator, which is seeded by the operating system.
public enum RandomBytes {
    /// Returns `count` bytes that are safe for keys, nonces and identifiers.
    ///
    /// Stops the process if the generator cannot be seeded, because guessable keys would be worse.
    public static func generate(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            precondition(
                RAND_bytes(buffer.baseAddress, Int32(count)) == 1,
                "The random generator could not be seeded.")
            initialized = count
        }
    }
}
