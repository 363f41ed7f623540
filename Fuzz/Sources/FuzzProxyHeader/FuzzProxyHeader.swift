import FuzzDriver
import MartletHTTP

/// Input: the first bytes of a connection with the PROXY protocol. Checks that a parsed header depends on its own bytes
/// alone, that a part of it is incomplete, and that no header is longer than the limit.
@main
struct FuzzProxyHeader {
    static func main() {
        fuzz { bytes, count in
            let input = Array(UnsafeRawBufferPointer(start: bytes, count: count).prefix(2 * ProxyHeader.byteLimit))
            switch ProxyHeader.read(input) {
            case .header(let header):
                precondition(header.byteCount <= input.count, "a header is within the bytes")
                let alone = Array(input[..<header.byteCount])
                precondition(ProxyHeader.read(alone) == .header(header), "the rest does not count")
                let cut = header.byteCount - 1
                precondition(ProxyHeader.read(Array(input[..<cut])) == .incomplete, "a part is incomplete")
            case .incomplete:
                precondition(input.count < ProxyHeader.byteLimit, "a header ends")
            case .malformed: break
            }
            return 0
        }
    }
}
