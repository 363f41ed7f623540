/// Digits for tokens and ids that look random and are the same in every run.
enum Digits {
    private static let characters = Array("0123456789abcdef".utf8)

    /// Spreads a number over 64 bits (SplitMix64, Steele and others 2014).
    static func mix(_ number: UInt64) -> UInt64 {
        var value = number &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// 64 characters.
    static func appendToken(_ device: UInt64, to bytes: inout [UInt8]) {
        for part in 0..<4 { append(mix(device * 4 + UInt64(part)), count: 16, to: &bytes) }
    }

    /// 36 characters; what identifies the push is in the first 18, so that making ids costs little of a measurement.
    static func appendUUID(_ word: UInt64, to bytes: inout [UInt8]) {
        append(word >> 32, count: 8, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(word >> 16, count: 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(word, count: 4, to: &bytes)
        bytes.append(contentsOf: "-8123-0123456789ab".utf8)
    }

    /// Making devices is to cost little of a measurement, too.
    private static func append(_ word: UInt64, count: Int, to bytes: inout [UInt8]) {
        guard count < 16 else {
            let (high, low) = (eight(UInt32(truncatingIfNeeded: word >> 32)), eight(UInt32(truncatingIfNeeded: word)))
            withUnsafeBytes(of: (high.littleEndian, low.littleEndian)) { bytes.append(contentsOf: $0) }
            return
        }
        for index in 1...count {
            bytes.append(characters[Int(truncatingIfNeeded: word >> UInt64(4 * (count - index)) & 15)])
        }
    }

    /// Eight digits, each a byte, the first one lowest.
    private static func eight(_ word: UInt32) -> UInt64 {
        var pairs = UInt64(word.byteSwapped)
        pairs = (pairs | pairs << 16) & 0x0000_FFFF_0000_FFFF
        pairs = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
        let values = (pairs >> 4 | pairs << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let areDeadLetters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return values &+ 0x3030_3030_3030_3030 &+ areDeadLetters &* 0x27
    }
}
