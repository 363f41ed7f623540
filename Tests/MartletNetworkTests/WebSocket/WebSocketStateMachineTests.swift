import MartletHTTP
import Testing

@testable import MartletNetwork

struct WebSocketStateMachineTests {
    private var state = WebSocketStateMachine(messageLimit: 100)

    private mutating func receive(_ bytes: [UInt8]) -> [WebSocketStateMachine.Action] {
        bytes.withUnsafeBytes { state.receive($0) }
    }

    @Test mutating func messagesAreDeliveredAndPingsAnswered() {
        let actions = receive(ClientFrame.text("a") + ClientFrame.make(0x89, [1, 2]) + ClientFrame.text("b"))
        #expect(
            actions == [.deliver(.text("a")), .write([0x8A, 2, 1, 2]), .deliver(.text("b"))])
        #expect(state.send(.text("c")) == [.write([0x81, 1, 0x63])])
    }

    @Test mutating func aGoodbyeIsAnsweredWithItsCode() {
        #expect(receive(ClientFrame.close(1001)) == [.write([0x88, 2, 0x03, 0xE9]), .finish])
        #expect(!state.isOpen)
        #expect(receive(ClientFrame.text("late")) == [])
        #expect(state.send(.text("late")) == [])
        #expect(state.close(1000) == [])
    }

    @Test mutating func afterAGoodbyeOnlyThePeersIsHeard() {
        #expect(state.close(4774) == [.write([0x88, 2, 0x12, 0xA6])])
        #expect(state.send(.text("late")) == [])
        #expect(receive(ClientFrame.text("late") + ClientFrame.make(0x89)) == [])
        #expect(receive(ClientFrame.close(4774)) == [.finish])
    }

    @Test mutating func aGoodbyeThatIsNotAnsweredIsNotWaitedForLong() {
        #expect(state.close(1000).count == 1)
        #expect(state.expire() == [.finish])
    }

    @Test mutating func aCodeThatMayNotBeSentIsNotSent() {
        #expect(state.close(1006) == [.write([0x88, 2, 0x03, 0xE8])])
    }

    @Test mutating func framesBeforeAViolationAreDelivered() {
        #expect(
            receive(ClientFrame.text("a") + [0x81, 0x01, 0x61])
                == [.deliver(.text("a")), .write([0x88, 2, 0x03, 0xEA]), .finish])
    }

    @Test mutating func aSilentPeerIsAskedOnce() {
        #expect(state.expire() == [.write([0x89, 0])])
        #expect(receive(ClientFrame.make(0x8A)) == [])
        #expect(state.expire() == [.write([0x89, 0])])
        #expect(state.expire() == [.finish])
    }

    @Test mutating func anEndWithoutAGoodbyeIsAnEnd() {
        #expect(state.inputEnded() == [.finish])
        #expect(state.inputEnded() == [])
    }
}
