import Testing

@testable import MartletPush

struct SimulatedMarkupTests {
    @Test func elementsComeInOrderWithTheirTextsAndDepths() throws {
        let document =
            "\u{FEFF}<?xml version='1.0'?><!-- > --><a:b x=\"1\">\n <c>1 &lt; 2</c><d/> <c> <e>z</e> </c></a:b>\n"
        let markup = try #require(SimulatedMarkup(Array(document.utf8)))
        #expect(markup.elements.map(\.name) == ["b", "c", "d", "c", "e"])
        #expect(markup.elements.map(\.depth) == [0, 1, 1, 1, 2])
        #expect(markup.elements[0].attributes == " x=\"1\"")
        #expect(markup.texts("c") == ["1 < 2"])
    }

    @Test(arguments: ["", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>text", "<a", "<a><b></a></b>", "\u{FFFE}"])
    func inconsistentMembersAreNoDocument(text: String) {
        #expect(SimulatedMarkup(Array(text.utf8)) == nil)
    }

    @Test func bytesThatAreNoTextAreNoDocument() {
        #expect(SimulatedMarkup([0x3C, 0x61, 0xFF, 0x2F, 0x3E]) == nil)
    }
}
