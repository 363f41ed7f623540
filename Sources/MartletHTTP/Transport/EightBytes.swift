extension UnsafeBufferPointer<UInt8> {
    /// Whether all bytes are good; asked of eight at a time, because every push asks it of its handle.
    /// - Parameters:
    ///   - marks: The marked ones among eight bytes, as a word with the highest bit of theirs set. Where there is one anywhere,
    ///     all bytes are asked one by one.
    ///   - isGood: Whether a byte is.
    @inlinable @inline(__always)
    public func allSatisfy(unlessEight marks: (UInt64) -> UInt64, or isGood: (UInt8) -> Bool) -> Bool {
        guard count >= 8 else { return allSatisfy(isGood) }
        let raw = UnsafeRawBufferPointer(self)
        var index = 0
        // The last eight, of which some are in the word before as well.
        var found = marks(raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        while index + 8 < count {
            found |= marks(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        return found & 0x8080_8080_8080_8080 == 0 || allSatisfy(isGood)
    }
}

/// Questions to the eight bytes of a word at once. Each is answered by a word in which the highest bit of a byte is set
/// where it is one of those; before the first that is, none is set, and after it there may be too many.
extension UInt64 {
    @inlinable public var bytesBeyondASCII: UInt64 { self }

    /// - Parameter limit: At most 128.
    @inlinable
    public func bytes(below limit: UInt8) -> UInt64 {
        (self &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~self
    }

    @inlinable
    public func bytes(equalTo byte: UInt8) -> UInt64 {
        (self ^ 0x0101_0101_0101_0101 &* UInt64(byte)).bytes(below: 1)
    }
}
