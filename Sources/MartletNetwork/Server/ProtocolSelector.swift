/// Distinguishes HTTP/2 from HTTP/1.1 by the first bytes of a connection without ALPN.
///
/// HTTP/2 clients with prior knowledge begin with the preface of RFC 9113, section 3.4, which is not a valid HTTP/1.1
/// request.
final class ProtocolSelector: WireProtocol {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static let firstBytes = 4 * 1024

    private let makeHTTP1: () -> any WireProtocol
    private let makeHTTP2: () -> any WireProtocol
    private var chosen: (any WireProtocol)?
    private var first: [UInt8] = []
    private var isOver = false
    private let start: ContinuousClock.Instant
    private let firstDeadline: ContinuousClock.Instant

    /// Creates a selector for a connection.
    /// - Parameters:
    ///   - start: The time when the connection was established.
    ///   - deadline: The deadline for the first bytes.
    init(
        start: ContinuousClock.Instant = .now, deadline: ContinuousClock.Instant,
        http1: @escaping () -> any WireProtocol,
        http2: @escaping () -> any WireProtocol
    ) {
        self.start = start
        firstDeadline = deadline
        makeHTTP1 = http1
        makeHTTP2 = http2
    }

    var isFinished: Bool { chosen?.isFinished ?? isOver }
    var wantsInput: Bool { chosen?.wantsInput ?? !isOver }
    /// The maximum number of bytes to read at once.
    ///
    /// It is small until the protocol is known, so that a body sent along with the first bytes waits in the socket.
    var inputLimit: Int { chosen?.inputLimit ?? Self.firstBytes }
    var idleSince: ContinuousClock.Instant? { chosen.map(\.idleSince) ?? .some(start) }
    var deadline: ContinuousClock.Instant? { chosen.map(\.deadline) ?? (isOver ? nil : firstDeadline) }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        if let chosen { return chosen.receive(bytes) }
        guard !isOver else { return }
        first.append(contentsOf: bytes)
        let compared = min(first.count, Self.preface.count)
        if first[..<compared].elementsEqual(Self.preface[..<compared]) {
            guard compared == Self.preface.count else { return }
            choose(makeHTTP2())
        } else {
            choose(makeHTTP1())
        }
    }

    private func choose(_ wire: any WireProtocol) {
        chosen = wire
        let first = first
        self.first = []
        first.withUnsafeBytes { wire.receive($0) }
    }

    func write(into output: inout [UInt8], limit: Int) {
        chosen?.write(into: &output, limit: limit)
    }

    func expire(at now: ContinuousClock.Instant) {
        if let chosen { return chosen.expire(at: now) }
        isOver = isOver || firstDeadline <= now
    }

    func inputEnded() {
        if let chosen { chosen.inputEnded() } else { isOver = true }
    }

    func ended() {
        chosen?.ended()
        isOver = true
    }

    func drain() {
        if let chosen { chosen.drain() } else { isOver = true }
    }
}
