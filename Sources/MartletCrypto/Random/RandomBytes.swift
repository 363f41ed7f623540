import CMartletOpenSSL

/// Unpredictable bytes from the operating system's seeded generator.
public enum RandomBytes {
    /// `count` bytes fit for keys, nonces and identifiers.
    ///
    /// The process stops when the generator cannot be seeded: going on with guessable keys would be worse.
    public static func generate(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            precondition(
                RAND_bytes(buffer.baseAddress, Int32(count)) == 1,
                "The random generator could not be seeded.")
            initialized = count
        }
    }
}
