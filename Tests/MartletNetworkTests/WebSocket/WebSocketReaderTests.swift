import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

struct WebSocketReaderTests {
    private func read(
        _ bytes: [UInt8], limit: Int = 1000, cut: Cut = .whole
    ) -> (events: [WebSocketReader.Event], violation: UInt16?) {
        var reader = WebSocketReader(messageLimit: limit)
        var events: [WebSocketReader.Event] = []
        var start = 0
        for length in cut.lengths(of: bytes.count) {
            do throws(WebSocketViolation) {
                try Array(bytes[start..<start + length]).withUnsafeBufferPointer { piece throws(WebSocketViolation) in
                    try reader.receive(UnsafeRawBufferPointer(piece)) { events.append($0) }
                }
            } catch {
                return (events, error.code)
            }
            start += length
        }
        return (events, nil)
    }

    @Test(arguments: Cut.allCases)
    func framesAreReadTheSameHoweverTheirBytesArrive(cut: Cut) {
        let long = String(repeating: "é", count: 150)
        let bytes =
            ClientFrame.text("hello") + ClientFrame.make(0x82, [0, 1, 2]) + ClientFrame.make(0x89, [9])
            + ClientFrame.make(0x01, Array("one ".utf8)) + ClientFrame.make(0x8A)
            + ClientFrame.make(0x00, Array("two ".utf8)) + ClientFrame.make(0x80, Array("three".utf8))
            + ClientFrame.text(long) + ClientFrame.text("") + ClientFrame.close(1001, "bye") + ClientFrame.text("late")
        let (events, violation) = read(bytes, cut: cut)
        #expect(violation == nil)
        #expect(
            events == [
                .message(.text("hello")), .message(.binary([0, 1, 2])), .ping([9]), .pong,
                .message(.text("one two three")), .message(.text(long)), .message(.text("")), .close(1001),
            ])
    }

    @Test func aCharacterMayBeSplitBetweenFragments() {
        let bytes = Array("é".utf8)
        let (events, _) = read(ClientFrame.make(0x01, [bytes[0]]) + ClientFrame.make(0x80, [bytes[1]]))
        #expect(events == [.message(.text("é"))])
    }

    @Test func aGoodbyeNeedsNoReason() {
        #expect(read(ClientFrame.make(0x88)).events == [.close(nil)])
    }

    static let broken: [(String, [UInt8], UInt16)] = [
        ("not masked", [0x81, 0x01, 0x61], 1002),
        ("a reserved bit", ClientFrame.make(0xC1, [0x61]), 1002),
        ("an unknown opcode", ClientFrame.make(0x83), 1002),
        ("an unknown control opcode", ClientFrame.make(0x8B), 1002),
        ("a control frame in fragments", ClientFrame.make(0x09), 1002),
        ("a long control frame", ClientFrame.make(0x89, [UInt8](repeating: 0, count: 126)), 1002),
        ("a length of two bytes for one", [0x81, 0xFE, 0, 125, 0, 0, 0, 0], 1002),
        ("a length of eight bytes for two", [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 1002),
        ("a length with its highest bit", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 1002),
        ("a continuation of nothing", ClientFrame.make(0x80, [0x61]), 1002),
        ("a message within another", ClientFrame.make(0x01, [0x61]) + ClientFrame.text("b"), 1002),
        ("text that is not UTF-8", ClientFrame.make(0x81, [0xC3]), 1007),
        ("half a character at the end", ClientFrame.make(0x01, [0x61]) + ClientFrame.make(0x80, [0xE2, 0x82]), 1007),
        ("a code of one byte", ClientFrame.make(0x88, [3]), 1002),
        ("a code that only stands for none", ClientFrame.close(1005), 1002),
        ("a code below all", ClientFrame.close(999), 1002),
        ("a reason that is not UTF-8", ClientFrame.make(0x88, [3, 0xE8, 0xFF]), 1007),
    ]

    @Test(arguments: broken)
    func protocolViolationsAreNamed(name: String, bytes: [UInt8], code: UInt16) {
        for cut in Cut.allCases {
            let (events, violation) = read(ClientFrame.text("first") + bytes, cut: cut)
            #expect(events == [.message(.text("first"))], "\(name)")
            #expect(violation == code, "\(name)")
        }
    }

    @Test func aBodyAnnouncedAsTooLargeIsRefusedBeforeItArrives() {
        #expect(read(ClientFrame.make(0x81, [], length: 1001)).violation == 1009)
        #expect(read(ClientFrame.make(0x81, [], length: .max)).violation == 1009)
        #expect(read(ClientFrame.make(0x82, [UInt8](repeating: 1, count: 1000))).events.count == 1)
        let half = [UInt8](repeating: 0x61, count: 600)
        let (events, violation) = read(ClientFrame.make(0x01, half) + ClientFrame.make(0x80, [], length: 600))
        #expect(events.isEmpty)
        #expect(violation == 1009)
    }

    /// Whatever comes, it is read or refused, and the same however it is cut.
    @Test func damagedBytesAreReadOrRefused() {
        let whole =
            ClientFrame.text("hello") + ClientFrame.make(0x01, [0x61]) + ClientFrame.make(0x89, [1])
            + ClientFrame.make(0x80, [0x62]) + ClientFrame.make(0x82, [UInt8](repeating: 3, count: 200))
            + ClientFrame.close(1000, "bye")
        var generator = SeededGenerator(seed: 7)
        var refused = 0
        for _ in 0..<500 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let results = Cut.allCases.map { read(bytes, limit: 300, cut: $0) }
            #expect(results.allSatisfy { $0.events == results[0].events && $0.violation == results[0].violation })
            if results[0].violation != nil { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test func lengthsAreWrittenInAsFewBytesAsTheyFit() {
        for (count, head) in [
            (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]), (65_535, [0x82, 126, 0xFF, 0xFF]),
            (65_536, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])] {
            let frame = WebSocketFrame.encode(.binary([UInt8](repeating: 5, count: count)))
            #expect(frame.prefix(head.count) == head[...])
            #expect(frame.count == head.count + count)
        }
    }
}
