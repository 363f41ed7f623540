extension UnsafeBufferPointer<UInt8> {
    /// Whether all bytes are good; asked of eight at a time, because every push asks it of its handle.
    /// - Parameters:
    ///   - areGood: Whether eight bytes, as a word, are; where it says no, they are asked one by one.
    ///   - isGood: Whether a byte is.
    @inlinable @inline(__always)
    public func allSatisfy(eightAtATime areGood: (UInt64) -> Bool, or isGood: (UInt8) -> Bool) -> Bool {
        let raw = UnsafeRawBufferPointer(self)
        var place = 0
        while place < count {
            let next = Swift.min(place + 8, count)
            if next - place < 8 || !areGood(raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) {
                for place in place..<next where !isGood(self[place]) { return false }
            }
            place = next
        }
        return true
    }
}

/// Questions to the eight bytes of a word at once.
extension UInt64 {
    @inlinable public var areBytesASCII: Bool { self & 0x8080_8080_8080_8080 == 0 }

    /// - Parameter limit: At most 128.
    @inlinable
    public func hasByte(below limit: UInt8) -> Bool {
        (self &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~self & 0x8080_8080_8080_8080 != 0
    }

    @inlinable
    public func hasByte(_ byte: UInt8) -> Bool {
        (self ^ 0x0101_0101_0101_0101 &* UInt64(byte)).hasByte(below: 1)
    }
}
