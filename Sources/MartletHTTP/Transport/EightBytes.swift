extension UnsafeBufferPointer<UInt8> {
    /// Returns true if every byte passes the test `isGood`.
    ///
    /// Checks eight bytes at a time, because this function runs on the handle of every push.
    /// - Parameters:
    ///   - marks: Tests a word of eight bytes. In the result, the highest bit of each byte that may fail the test is
    ///     set. If any byte may fail, all bytes are tested one by one with `isGood`.
    ///   - isGood: Returns true if one byte passes the test.
    @inlinable @inline(__always)
    public func allSatisfy(unlessEight marks: (UInt64) -> UInt64, or isGood: (UInt8) -> Bool) -> Bool {
        guard count >= 8 else { return allSatisfy(isGood) }
        let raw = UnsafeRawBufferPointer(self)
        var index = 0
        // Check the last eight bytes first; some of them may also be part of the last full word that the loop checks.
        var found = marks(raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        while index + 8 < count {
            found |= marks(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        return found & 0x8080_8080_8080_8080 == 0 || allSatisfy(isGood)
    }
}

/// Functions that test all eight bytes of a word at once.
///
/// In the result, the highest bit of each matching byte is set. The lowest set bit is always correct; the bits above it
/// may be false positives.
extension UInt64 {
    @inlinable public var bytesBeyondASCII: UInt64 { self }

    /// Marks the bytes that are less than a limit.
    /// - Parameter limit: The exclusive upper limit, at most 128.
    @inlinable
    public func bytes(below limit: UInt8) -> UInt64 {
        (self &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~self
    }

    @inlinable
    public func bytes(equalTo byte: UInt8) -> UInt64 {
        (self ^ 0x0101_0101_0101_0101 &* UInt64(byte)).bytes(below: 1)
    }
}
