import MartletHTTP
import Testing

@testable import MartletNetwork

/// Carries a protocol in memory, at a time that the test sets.
final class FakeConnection: WireConnection {
    var now = ContinuousClock.now
    private(set) var wakes = 0
    private(set) var successor: (any WireProtocol)?

    func needsWrite() {
        wakes += 1
    }

    func become(_ wire: any WireProtocol, unread: [UInt8]) {
        successor = wire
        unread.withUnsafeBytes { wire.receive($0) }
    }
}

/// How bytes are cut on their way from one protocol to the other.
enum Cut: CaseIterable, CustomTestStringConvertible {
    case whole
    case byteByByte
    case pieces

    var testDescription: String { "\(self)" }

    func lengths(of total: Int) -> [Int] {
        switch self {
        case .whole: return total > 0 ? [total] : []
        case .byteByByte: return Array(repeating: 1, count: total)
        case .pieces:
            var lengths: [Int] = []
            var left = total
            while left > 0 {
                let length = min(left, 1 + (lengths.count * 7919) % 97)
                lengths.append(length)
                left -= length
            }
            return lengths
        }
    }
}

extension WireProtocol {
    /// Everything that is ready to be sent.
    func written(limit: Int = 1 << 20) -> [UInt8] {
        var output: [UInt8] = []
        var before = -1
        while output.count > before {
            before = output.count
            write(into: &output, limit: output.count + limit)
        }
        return output
    }

    func receive(_ bytes: [UInt8], cut: Cut = .whole) {
        var start = 0
        for length in cut.lengths(of: bytes.count) {
            bytes[start..<start + length].withUnsafeBytes { receive($0) }
            start += length
        }
    }
}

/// Moves bytes between two protocols until neither has any.
func exchange(_ one: any WireProtocol, _ other: any WireProtocol, cut: Cut = .whole) {
    while true {
        let there: [UInt8] = one.written()
        other.receive(there, cut: cut)
        let back: [UInt8] = other.written()
        one.receive(back, cut: cut)
        if there.isEmpty && back.isEmpty { return }
    }
}
