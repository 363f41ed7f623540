import Foundation
import MartletModel
import MartletTesting
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

struct TemplateXMLTests {
    private func render(_ body: String, _ properties: [String: String]) throws -> String {
        let rendered = try CompiledTemplate(Template(body: body), format: .xml)
            .render(TemplateProperties(properties))
        return String(decoding: rendered.body, as: UTF8.self)
    }

    @Test(arguments: [
        (
            #"<toast launch="$(link)"><visual><binding template="ToastText01"><text id="1">$(title)</text></binding></visual></toast>"#,
            #"<toast launch="a&amp;b"><visual><binding template="ToastText01"><text id="1">Hi</text></binding></visual></toast>"#
        ),
        (
            #"<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>$(title)</wp:Text1></wp:Toast></wp:Notification>"#,
            #"<?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>Hi</wp:Text1></wp:Toast></wp:Notification>"#
        ),
        (
            "<?xml version='1.1' encoding='utf-16' standalone='no' ?><a/>",
            "<?xml version='1.1' encoding='utf-16' standalone='no' ?><a/>"
        ),
        ("<a b='$(title)' c = \"{'x' + $(title)}\"/>", "<a b='Hi' c = \"xHi\"/>"),
        ("<a><![CDATA[$(title)]]></a>", "<a><![CDATA[Hi]]></a>"),
        ("<a>\n  <![CDATA[$(title)]]>\n</a>", "<a>\n  <![CDATA[Hi]]>\n</a>"),
        ("<a>$(title)<!-- $(title) --></a>", "<a>Hi<!-- $(title) --></a>"),
        ("<a><?pi $(title)?>$(title)</a>", "<a><?pi $(title)?>Hi</a>"),
        ("<a>{&quot;x&quot; &#43; &apos;&lt;&apos; + $(title)}</a>", "<a>x&lt;Hi</a>"),
        ("<a>&#x24;(title)</a>", "<a>Hi</a>"),
        ("<a> $(title)</a>", "<a> $(title)</a>"),
        ("<a>Hello $(title)</a>", "<a>Hello $(title)</a>"),
        ("<a>$(title)<b/></a>", "<a>$(title)<b/></a>"),
        ("<a><b/>$(title)</a>", "<a><b/>$(title)</a>"),
        ("<a>x<![CDATA[$(title)]]></a>", "<a>x<![CDATA[$(title)]]></a>"),
        ("<a><b>$(title)</b> <c d=\"1\" >$(title)</c></a>", "<a><b>Hi</b> <c d=\"1\" >Hi</c></a>"),
        ("<a>$(title, 1)</a>\n<!-- end -->", "<a>H</a>\n<!-- end -->"),
        ("<é:ü x-y.z=\"$(title)\"></é:ü>", "<é:ü x-y.z=\"Hi\"></é:ü>"),
        ("<a><![CDATA[]]></a>", "<a><![CDATA[]]></a>"),
        ("<a></a>", "<a></a>"),
    ])
    func attributesAndWholeTextsThatAreExpressionsAreReplaced(body: String, rendered: String) throws {
        #expect(try render(body, ["title": "Hi", "link": "a&b"]) == rendered)
    }

    @Test func valuesAreEscapedForTheirPlace() throws {
        let properties = ["v": "<&>\"'\r\n\t\u{0}\u{1F}\u{FFFE}\u{FFFF}é🦜]]>"]
        #expect(
            try render("<a b=\"$(v)\"/>", properties)
                == "<a b=\"&lt;&amp;&gt;&quot;&apos;&#13;&#10;&#9;\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é🦜]]&gt;\"/>")
        #expect(
            try render("<a>$(v)</a>", properties)
                == "<a>&lt;&amp;&gt;\"'&#13;\n\t\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é🦜]]&gt;</a>")
        #expect(
            try render("<a><![CDATA[$(v)]]></a>", properties)
                == "<a><![CDATA[<&>\"']]>&#13;<![CDATA[\n\t\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é🦜]]]]><![CDATA[>]]></a>")
    }

    @Test func aSectionsEndIsSplitAcrossTheTermsOfAComposition() throws {
        #expect(
            try render("<a><![CDATA[{$(v) + ']' + $(w)}]]></a>", ["v": "]", "w": ">"])
                == "<a><![CDATA[]]]]><![CDATA[>]]></a>")
        #expect(try render("<a><![CDATA[$(v)]]></a>", ["v": ">"]) == "<a><![CDATA[>]]></a>")
        #expect(try render("<a><![CDATA[$(v)]]></a>", ["v": "]]"]) == "<a><![CDATA[]]]]></a>")
    }

    @Test(arguments: [
        ("hello", "a < is missing"),
        ("<a>", "not closed"),
        ("<a", "not closed"),
        ("<a><b></a></b>", "end of the element 'b' is missing"),
        ("</a>", "no name"),
        ("<a/><b/>", "outermost"),
        ("<a/>x", "outermost"),
        ("<1/>", "no name"),
        ("<a:b:c/>", "no name"),
        ("<:a/>", "no name"),
        ("<a b/>", "= is missing"),
        ("<a b=c/>", "not in quotes"),
        ("<a b=\"c/>", "does not end"),
        ("<a b=\"<\"/>", "< is in an attribute"),
        ("<a b=\"1\"c=\"2\"/>", "tag is not closed"),
        ("<a b=\"1\" b=\"2\"/>", "'b' is there twice"),
        ("<a>&nbsp;</a>", "neither &amp;"),
        ("<a>&</a>", "neither &amp;"),
        ("<a>& b;</a>", "neither &amp;"),
        ("<a>&#0;</a>", "neither &amp;"),
        ("<a>&#xFFFE;</a>", "neither &amp;"),
        ("<a>&#xD800;</a>", "neither &amp;"),
        ("<a>&#+65;</a>", "neither &amp;"),
        ("<a>&#99999999;</a>", "neither &amp;"),
        ("<a b=\"&x;\"/>", "neither &amp;"),
        ("<a>]]></a>", "]]> is in a text"),
        ("<a><![CDATA[x</a>", "a CDATA section does not end"),
        ("<a><!-- x</a>", "a comment does not end"),
        ("<a><!-- x -- y --></a>", "-- is in a comment"),
        ("<a><?p x</a>", "a processing instruction does not end"),
        ("<a><?xml version=\"1.0\"?></a>", "not at its very beginning"),
        (" <?xml version=\"1.0\"?><a/>", "not at its very beginning"),
        ("<?xml?><a/>", "not at its very beginning"),
        ("<?xml encoding=\"utf-8\"?><a/>", "XML declaration is wrong"),
        ("<?xml version=\"1.0\" x=\"1\"?><a/>", "XML declaration is wrong"),
        ("<?xml version=\"2.0\"?><a/>", "XML declaration is wrong"),
        ("<?xml version=\"1.0\" encoding=\"8\"?><a/>", "XML declaration is wrong"),
        ("<?xml version=\"1.0\" standalone=\"1\"?><a/>", "XML declaration is wrong"),
        ("<?xml version=\"1.0\"encoding=\"utf-8\"?><a/>", "XML declaration is wrong"),
        ("<!DOCTYPE a><a/>", "document type declaration"),
        ("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "document type declaration"),
        ("<a><!DOCTYPE a></a>", "no name"),
        ("<a>\u{1}</a>", "does not allow"),
        ("<a>\u{FFFF}</a>", "does not allow"),
        ("<!-- only -->", "no element"),
        (" ", "no element"),
        ("", "is empty"),
        ("<a b=\"#(n)\"/>", "only the strings of a JSON body"),
        ("<a>#(n)</a>", "only the strings of a JSON body"),
        ("<a>$(n</a>", "no ) where"),
    ])
    func aBodyMustBeWellFormedXML(body: String, reason: String) throws {
        let error = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: body), format: .xml)
        }
        #expect("\(error)".contains(reason), "\(error)")
    }

    @Test func elementsLieAtMost64Deep() throws {
        func nested(_ depth: Int) -> Template {
            Template(body: String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth))
        }
        #expect(throws: Never.self) { try CompiledTemplate(nested(64), format: .xml) }
        #expect(throws: TemplateError.self) { try CompiledTemplate(nested(65), format: .xml) }
    }

    /// Judged by libxml2: whatever properties hold, the document is well-formed and says what they say.
    @Test func anyValueSurvivesAnXMLTemplate() throws {
        let template = try CompiledTemplate(
            Template(body: "<r><e a=\"$(v)\" b='$(v)'>$(v)</e><s><![CDATA[{$(v) + ']]' + $(w)}]]></s></r>"),
            format: .xml)
        var random = SeededGenerator(seed: 0x7468_7275_7368)
        for _ in 0..<300 {
            let (v, w) = (random.text(), random.text())
            let rendered = try template.render(TemplateProperties(["v": v, "w": w]))
            let reader = XMLValues()
            let parser = XMLParser(data: Data(rendered.body))
            parser.delegate = reader
            #expect(parser.parse(), "\(String(decoding: rendered.body, as: UTF8.self).debugDescription)")
            #expect(reader.attributes == ["a": Self.allowed(v), "b": Self.allowed(v)])
            #expect(reader.texts["e"] ?? "" == Self.allowed(v))
            #expect(reader.texts["s"] ?? "" == Self.allowed(v + "]]" + w))
        }
    }

    /// What XML can hold of a text.
    private static func allowed(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.value {
            case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x10000...: scalar
            default: "\u{FFFD}"
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

private final class XMLValues: NSObject, XMLParserDelegate {
    var attributes: [String: String] = [:]
    var texts: [String: String] = [:]
    private var element = ""

    func parser(
        _: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        element = name
        if !attributes.isEmpty { self.attributes = attributes }
    }

    func parser(_: XMLParser, foundCharacters text: String) { texts[element, default: ""] += text }

    func parser(_: XMLParser, foundCDATA block: Data) {
        texts[element, default: ""] += String(decoding: block, as: UTF8.self)
    }
}
