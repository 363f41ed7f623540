import MartletModel
import Testing

@testable import MartletHubAPI

struct XMLTests {
    private static let entry = Array(
        """
        <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml">\
        <PigeonRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><ETag i:nil="true"/>\
        <Tags>a&amp;b,&#x63;</Tags><Loft><![CDATA[x<y]]></Loft></PigeonRegistrationDescription></content></entry>
        """.utf8)

    @Test func aDocumentIsReadAsATree() throws {
        let root = try XMLReader().read(Self.entry)
        let description = try #require(root.child("content")?.children.first)
        #expect(root.child("content")?.attributes == ["type": "text/xml"])
        #expect(description.name == "PigeonRegistrationDescription")
        #expect(description.child("ETag") == nil)
        #expect(description.child("Tags")?.text == "a&b,c")
        #expect(description.child("Loft")?.text == "x<y")
    }

    @Test func aTruncatedDocumentIsMalformedWhereverItIsCut() {
        for length in 1..<Self.entry.count {
            #expect(throws: XMLReaderError.self, "at \(length)") {
                try XMLReader().read(Array(Self.entry.prefix(length)))
            }
        }
    }

    @Test func noFlippedBitCrashesTheReader() {
        var read = 0
        for index in Self.entry.indices {
            for bit in 0..<8 {
                var bytes = Self.entry
                bytes[index] ^= 1 << bit
                if (try? XMLReader().read(bytes)) != nil { read += 1 }
            }
        }
        #expect(read > 0)
    }

    @Test(arguments: ["\u{0}", "<a>\u{0}</a>", "<a>\u{1}</a>", "a", "<a", "<a/><b/>", "<a></b>", "<a b></a>", "<a/>x"])
    func invalidDocumentsAreRefused(text: String) {
        #expect(throws: XMLReaderError.self) { try XMLReader().read(Array(text.utf8)) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: XMLReaderError.notUTF8) { try XMLReader().read([0x3C, 0x61, 0xFF, 0x2F, 0x3E]) }
        #expect(throws: XMLReaderError.notUTF8) { try XMLReader().read([0xFF, 0xFE, 0x3C, 0x00]) }
    }

    @Test func aByteOrderMarkIsPassedOver() throws {
        #expect(try XMLReader().read([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8)).name == "a")
    }

    @Test(
        "Trap 26: a document type is refused before anything in it is read",
        arguments: [
            "<!DOCTYPE a><a/>", "<!DOCTYPE a SYSTEM \"http://localhost/x\"><a/>",
            "<?xml version=\"1.0\"?><!-- c --><!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "<!DOCTYPE a [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]><a/>",
        ])
    func aDocumentTypeIsRefused(text: String) {
        #expect(throws: XMLReaderError.hasDTD) { try XMLReader().read(Array(text.utf8)) }
    }

    @Test(
        "Trap 25: only what a known client breaks is mended",
        arguments: [
            ("<a>x&y</a>", "x&y"), ("<a>x&</a>", "x&"), ("<a>x&1;&amp;z</a>", nil), ("<a>x&amp;y&z=1</a>", "x&y&z=1"),
            ("<a>x</WnsHeaders></a>", "x"), ("<a><![CDATA[&]]>&</a>", "&&"), ("<a><!-- & -->&</a>", "&"),
            ("<a>x&name;</a>", nil), ("<a>x</b></a>", nil), ("<a>x</Headers", nil),
        ] as [(String, String?)])
    func onlyWhatAKnownClientBreaksIsMended(text: String, wanted: String?) {
        #expect((try? XMLReader().read(Array(text.utf8)))?.text == wanted)
    }

    @Test func anEndTagOfACollectionThatIsOpenStays() {
        #expect(XMLRepair.repair(Array("<a><XHeaders></XHeaders>".utf8)) == nil)
    }

    @Test func manyStrayEndTagsAreLookedAtInOnePass() {
        let open = "<a><yHeaders></yHeaders>"
        let stray = (0..<20_000).map { "</x\($0)Headers>" }.joined()
        #expect(XMLRepair.repair(Array((open + stray + "</a>").utf8)) == Array((open + "</a>").utf8))
    }

    @Test("Trap 16: what is written is well-formed, whatever the texts are")
    func writtenDocumentsAreWellFormed() throws {
        let nasty = String(decoding: (0...127).map { UInt8($0) }, as: UTF8.self) + "]]>\u{FFFE}\u{FFFF}é\u{1F426}"
        var writer = XMLWriter()
        writer.element("a", ["b": nasty]) { $0.element("c", text: nasty) }
        let root = try XMLReader().read(writer.bytes)
        let controls = Set("\t\n\r".unicodeScalars)
        let wanted = String(
            String.UnicodeScalarView(
                nasty.unicodeScalars.map {
                    ($0.value < 0x20 && !controls.contains($0)) || [0xFFFE, 0xFFFF].contains($0.value) ? "\u{FFFD}" : $0
                }))
        #expect(root.attributes["b"] == wanted)
        #expect(root.child("c")?.text == wanted)
    }
}
