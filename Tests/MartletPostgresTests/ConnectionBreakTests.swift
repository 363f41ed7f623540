import Glibc
import Testing

@testable import MartletPostgres

struct ConnectionBreakTests {
    /// The two ends of a connection.
    private let ends: [Int32] = {
        var ends: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return ends
    }()
    private var own: Int32 { ends[0] }
    private var peer: Int32 { ends[1] }

    /// Whether the connection has ended for its peer.
    private func hasEnded() -> Bool {
        var byte: UInt8 = 0
        return recv(peer, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }

    private func closeBoth() {
        for end in ends { close(end) }
    }

    @Test func itBreaksAConnectionThatAnotherThreadUses() {
        defer { closeBoth() }
        let interruption = ConnectionBreak()
        #expect(interruption.attach(to: own) && !hasEnded())
        interruption.perform()
        #expect(hasEnded())
        interruption.detach()
    }

    @Test func itBreaksAConnectionThatIsMadeLater() {
        defer { closeBoth() }
        let interruption = ConnectionBreak()
        interruption.perform()
        #expect(interruption.attach(to: own) && hasEnded())
        interruption.detach()
    }

    @Test func itLeavesAConnectionThatWasClosedAlone() {
        defer { closeBoth() }
        let interruption = ConnectionBreak()
        #expect(interruption.attach(to: own))
        interruption.detach()
        interruption.perform()
        #expect(!hasEnded())
    }
}
