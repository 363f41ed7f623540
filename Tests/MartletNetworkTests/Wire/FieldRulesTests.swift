import Testing

@testable import MartletNetwork

/// What is asked of eight bytes at a time is what is asked of each of them.
struct FieldRulesTests {
    @Test func aByteIsJudgedTheSameWhereverItStands() {
        for byte in UInt8.min...UInt8.max {
            for count in 1...18 {
                for index in 0..<count {
                    var bytes = [UInt8](repeating: UInt8(ascii: "~"), count: count)
                    bytes[index] = byte
                    let (areVisible, areValueBytes) = bytes.withUnsafeBufferPointer {
                        (FieldRules.areVisible($0), FieldRules.areValueBytes($0))
                    }
                    if areVisible != (byte > 0x20 && byte < 0x7F) || areValueBytes != FieldRules.isValueByte(byte) {
                        Issue.record("byte \(byte) at \(index) of \(count)")
                    }
                }
            }
        }
    }

    @Test func goodAndBadBytesBesideEachOtherAreBad() {
        for text in ["\u{1}\u{0}aaaaaa", "aaaaaa\u{7F}\u{80}", "\t\t\t\t\t\t\t\u{8}", "\r\n\r\n\r\n\r\n"] {
            let bytes = Array(text.utf8)
            #expect(!bytes.withUnsafeBufferPointer(FieldRules.areVisible))
            #expect(!bytes.withUnsafeBufferPointer(FieldRules.areValueBytes))
        }
        let tabs = [UInt8](repeating: 0x09, count: 24)
        #expect(tabs.withUnsafeBufferPointer(FieldRules.areValueBytes))
    }

    @Test func nothingAtAllIsGood() {
        #expect(FieldRules.areVisible(UnsafeBufferPointer(start: nil, count: 0)))
        #expect(FieldRules.areValueBytes(UnsafeBufferPointer(start: nil, count: 0)))
    }
}
