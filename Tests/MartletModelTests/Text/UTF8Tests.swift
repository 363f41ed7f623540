import Testing

@testable import MartletModel

struct UTF8Tests {
    @Test(arguments: ["", "a", "h\u{e9}llo", "\u{0}", "👋🏽", "\u{FFFD}"])
    func aTextComesBack(text: String) {
        #expect(String(utf8: Array(text.utf8)) == text)
        #expect(String.repairing(Array(text.utf8)) == text)
    }

    @Test(arguments: [
        [0xFF], [0xC3], [0x61, 0xC3, 0x28], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    ])
    func invalidUTF8IsNoText(bytes: [UInt8]) {
        #expect(String(utf8: bytes) == nil)
        #expect(String.repairing(bytes) == nil)
    }
}
