import MartletHTTP
import Testing

@testable import MartletNetwork

@Suite struct HPACKTests {
    @Test(arguments: [
        // Literal that enters, literal that does not, literal that never may, indexed (RFC 7541, appendix C.2).
        ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", [HTTPField.Indexing.allowed]),
        ("040c2f73616d706c652f70617468", [.never]),
        ("100870617373776f726406736563726574", [.never]),
        ("82", [.allowed]),
        // A whole request with Huffman strings (C.4.1), and one after a change of the table's size.
        ("828684418cf1e3c2e5f23a6ba0ab90f4ff", [.allowed, .allowed, .allowed, .allowed]),
        ("203fe11f8204012f", [.allowed, .never]),
        // Cut off: the fields before the fault.
        ("82400a6375", [.allowed]),
        ("82ff", [.allowed]),
        ("7fffffffffff", []),
    ])
    func aBlockTellsHowEachFieldIsRepresented(_ block: String, _ expected: [HTTPField.Indexing]) {
        #expect(HPACKBlockScanner.indexing(of: bytes(block)) == expected)
    }

    @Test(arguments: [(10, 5, "0a"), (1_337, 5, "1f9a0a"), (42, 8, "2a"), (127, 7, "7f00"), (255, 7, "7f8001")])
    func anIntegerIsWrittenInItsPrefix(_ value: Int, _ prefix: Int, _ expected: String) {
        var output: [UInt8] = []
        HPACKWriter.integer(value, prefix: prefix, first: 0, into: &output)
        #expect(output == bytes(expected))
    }

    @Test func theTableCountsFromItsNewestEntryAndForgetsTheOldest() {
        var table = HPACKEncoderTable()
        let entries = (0..<3).map { HPACKEncoderTable.Entry(name: "n\($0)", value: String(repeating: "v", count: 66)) }
        for entry in entries { table.insert(entry) }
        #expect(entries.map { table.index(of: $0) } == [64, 63, 62])
        table.allow(200)
        #expect(entries.map { table.index(of: $0) } == [nil, 63, 62])
    }

    @Test func everySizeThatTheTableHadIsSaidOnce() {
        var table = HPACKEncoderTable()
        table.allow(0)
        table.allow(100)
        var block: [UInt8] = []
        table.writeSizeUpdate(into: &block)
        table.writeSizeUpdate(into: &block)
        #expect(block == bytes("203f45"))
    }

    @Test func aFrameTapReadsPaddedAndContinuedBlocks() throws {
        var tap = HTTP2FrameTap(prefaceLength: 2, blockLimit: 100)
        // HEADERS with padding and priority, then a CONTINUATION.
        let input = bytes("5050" + "00000a" + "01" + "28" + "00000003" + "03" + "0000000010" + "82" + "000000")
        let rest = bytes("000002" + "09" + "04" + "00000003" + "8604")
        for byte in input + rest {
            try withUnsafeBytes(of: byte) { byte throws(HTTP2FrameTap.Fault) in try tap.read(byte) { _ in true } }
        }
        #expect(tap.takeIndexing(on: 3) == [.allowed, .allowed])
    }

    private func bytes(_ hex: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Substring(hex)
        while !rest.isEmpty {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
