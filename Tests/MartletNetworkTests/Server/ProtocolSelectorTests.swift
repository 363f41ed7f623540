import MartletHTTP
import Testing

@testable import MartletNetwork

struct ProtocolSelectorTests {
    /// Records what it is given.
    private final class Noting: WireProtocol {
        var received = ""
        var isFinished: Bool { false }
        func receive(_ bytes: UnsafeRawBufferPointer) { received += String(decoding: bytes, as: UTF8.self) }
        func write(into output: inout [UInt8], limit: Int) {}
        func inputEnded() {}
        func ended() {}
        func drain() {}
    }

    private let one = Noting()
    private let two = Noting()
    private let due = ContinuousClock.now + .seconds(1)

    private func makeSelector() -> ProtocolSelector {
        ProtocolSelector(deadline: due) {
            one
        } http2: {
            two
        }
    }

    @Test func thePrefaceMeansHTTP2HoweverItArrives() {
        let text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrest"
        for way in text.pieces {
            two.received = ""
            let selector = makeSelector()
            for piece in way { selector.receive(piece) }
            #expect(two.received == text)
            #expect(one.received.isEmpty)
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "PRI * HTTP/1.1\r\n", "PUT /", "PRI * HTTP/2.0\r\n\r\nSM\r\n\rx"])
    func anythingElseIsHTTP1AndLosesNoByte(_ text: String) {
        for way in text.pieces {
            one.received = ""
            let selector = makeSelector()
            for piece in way { selector.receive(piece) }
            #expect(one.received == text)
            #expect(two.received.isEmpty)
        }
    }

    @Test func aConnectionWithoutAKnownProtocolIsClosed() {
        let selector = makeSelector()
        selector.receive("PRI *")
        #expect(selector.deadline == due)
        selector.expire(at: due)
        #expect(selector.isFinished)
    }
}
