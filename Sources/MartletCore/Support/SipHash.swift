/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash for short inputs.
struct SipHash: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var tail: UInt64 = 0
    private var count = 0

    init(key: (UInt64, UInt64)) {
        v0 = key.0 ^ 0x736F_6D65_7073_6575
        v1 = key.1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE
        v2 = key.0 ^ 0x6C79_6765_6E65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func combine(_ byte: UInt8) {
        tail |= UInt64(byte) << UInt64(8 * (count & 7))
        count += 1
        guard count & 7 == 0 else { return }
        compress(tail)
        tail = 0
    }

    /// Adds the eight bytes of a word, the least significant byte first.
    mutating func combine(_ word: UInt64) {
        guard count & 7 == 0 else {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: word >> shift)) }
            return
        }
        compress(word)
        count += 8
    }

    /// Returns the first and the second eight bytes of the hash, each as a little-endian word.
    mutating func finalize() -> (UInt64, UInt64) {
        compress(tail | UInt64(truncatingIfNeeded: count) << 56)
        v2 ^= 0xEE
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xDD
        for _ in 0..<4 { round() }
        return (first, v0 ^ v1 ^ v2 ^ v3)
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = rotated(v1, 13) ^ v0
        v0 = rotated(v0, 32)
        v2 &+= v3
        v3 = rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = rotated(v1, 17) ^ v2
        v2 = rotated(v2, 32)
    }

    @inline(__always)
    private func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }
}
