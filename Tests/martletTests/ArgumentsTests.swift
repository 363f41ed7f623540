import Testing

@testable import martlet

struct ArgumentsTests {
    private func words(_ arguments: [[UInt8]]) throws -> [String] {
        var vector = arguments.map { bytes -> UnsafeMutablePointer<CChar>? in
            let word = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            for (index, byte) in (bytes + [0]).enumerated() { word[index] = CChar(bitPattern: byte) }
            return word
        }
        defer { for word in vector { word?.deallocate() } }
        let count = Int32(vector.count)
        return try vector.withUnsafeMutableBufferPointer { vector in
            try vector.baseAddress.map { try Arguments.words(count, $0) } ?? []
        }
    }

    @Test func theWordsAreThoseBehindTheProgramsName() throws {
        #expect(try words([]) == [])
        #expect(try words([[0xFF]]) == [])
        #expect(try words([Array("martlet".utf8), Array("hub".utf8), [], Array("Zoë".utf8)]) == ["hub", "", "Zoë"])
    }

    @Test func invalidTextIsRefusedAndNotRepaired() {
        let error = #expect(throws: UsageError.self) {
            try words([Array("martlet".utf8), Array("send".utf8), [0x61, 0xFF]])
        }
        #expect(error?.description == "Argument 2 is not UTF-8.")
    }
}
