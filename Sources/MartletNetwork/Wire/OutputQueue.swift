/// A queue of bytes that wait to be sent.
struct OutputQueue {
    var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// Moves bytes to `output` until `output` has `limit` bytes.
    mutating func move(into output: inout [UInt8], limit: Int) {
        let count = min(count, max(0, limit - output.count))
        guard count > 0 else { return }
        output.append(contentsOf: bytes[start..<(start + count)])
        start += count
        dropSent()
    }

    /// Removes sent bytes from the front.
    mutating func drop(_ count: Int) {
        start += count
        dropSent()
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    private mutating func dropSent() {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 16 * 1024)
            start = 0
        } else if start > 64 * 1024, start > bytes.count / 2 {
            // A new array is made, because an array keeps its memory when bytes are removed from it.
            bytes = Array(bytes[start...])
            start = 0
        }
    }
}
