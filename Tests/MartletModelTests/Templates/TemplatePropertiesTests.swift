import MartletModel
import Testing

struct TemplatePropertiesTests {
    private func parse(_ text: String) throws -> TemplateProperties {
        try TemplateProperties(parsing: Array(text.utf8))
    }

    @Test func stringsNumbersAndBooleansAreTheirText() throws {
        let properties = try parse(
            #" { "s" : "a\"\\\u00e9\n🦜" , "i":3,"d":1.10,"e":-1E+2,"big":12345678901234567890,"t":true,"f":false,"z":null,"":"x"} "#
        )
        #expect(properties["s"] == "a\"\\é\n🦜")
        #expect(properties["i"] == "3")
        #expect(properties["d"] == "1.10")
        #expect(properties["e"] == "-1E+2")
        #expect(properties["big"] == "12345678901234567890")
        #expect(properties["t"] == "true")
        #expect(properties["f"] == "false")
        #expect(properties["z"] == nil)
        #expect(properties["missing"] == nil)
        #expect(try parse("{}") == TemplateProperties())
    }

    @Test func namesCompareWithoutCaseAndTheLastOfEqualNamesCounts() throws {
        #expect(try parse(#"{"Title":"a"}"#)["tITLE"] == "a")
        #expect(try parse(#"{"Title":"a","TITLE":"b"}"#)["title"] == "b")
        #expect(try parse(#"{"t":"a","t":"b"}"#)["t"] == "b")
        #expect(try parse(#"{"t":"a","T":null}"#)["t"] == nil)
        #expect(TemplateProperties(["T": "upper", "t": "lower"])["t"] == "lower")
        #expect(try parse("{\"\u{212A}\":\"kelvin\"}")["k"] == nil)
    }

    @Test(arguments: ["", "[]", "\"a\"", "3", "null"])
    func onlyAnObjectIsRead(text: String) {
        #expect(throws: TemplatePropertiesError.self) { try parse(text) }
    }

    @Test(arguments: [
        #"{"ok":"1","bad":{"x":"y"}}"#, #"{"bad":["x"]}"#, #"{"bad":{}}"#, #"{"bad":{"a":"b"},"bad":"x"}"#,
    ])
    func nestedValuesAreRefusedByName(text: String) {
        let error = #expect(throws: TemplatePropertiesError.self) { try parse(text) }
        #expect(error == .nested("bad"))
        #expect(error.map { "\($0)".contains("'bad' is an array or an object") } == true)
    }

    @Test("Trap 32: unescaped quotes are refused with a sentence about escaping")
    func unescapedQuotesAreRefusedWithASentenceAboutEscaping() throws {
        let error = try #require(throws: TemplatePropertiesError.self) { try parse(#"{"message":"say "hi" now"}"#) }
        #expect("\(error)".contains("Not valid JSON at byte 17"))
        #expect("\(error)".contains("Values must be JSON-escaped"))
        #expect(!"\(error)".contains("hi"))
    }

    @Test func aBodyHasAtMost64Kilobytes() throws {
        let fitting = #"{"a":""# + String(repeating: "x", count: 65_536 - 8) + #""}"#
        #expect(try parse(fitting)["a"]?.utf8.count == 65_528)
        #expect(throws: TemplatePropertiesError.tooLarge) { try parse(fitting + " ") }
    }
}
