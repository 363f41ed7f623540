import MartletModel
import Testing

struct JSONTests {
    @Test func everyKindOfValueIsReadAndWritten() throws {
        let text = #" {"a":[1,-2.5,1e3,true,false,null,"x"],"b":{"c":{}},"d":[]} "#
        let tree = try JSON(parsing: Array(text.utf8))
        #expect(
            tree == [
                "a": [1, .double(-2.5), .double(1000), true, false, .null, "x"], "b": ["c": [:]], "d": [],
            ])
        #expect(tree.text == #"{"a":[1,-2.5,1000.0,true,false,null,"x"],"b":{"c":{}},"d":[]}"#)
    }

    @Test func anyTextSurvives() throws {
        let text = "quote \" backslash \\ line\nreturn\rtab\t bell\u{7} null\u{0} é 🦜 \u{2028} العربية"
        #expect(try JSON(parsing: JSON.string(text).bytes) == .string(text))
        #expect(JSON.string("\u{1}\u{1F}").text == #""\u0001\u001f""#)
    }

    @Test func escapesAreReadIncludingSurrogatePairs() throws {
        #expect(try JSON(parsing: Array(#""\ud83e\udD9c\u00e9\/\b\f\"""#.utf8)) == "🦜é/\u{8}\u{C}\"")
    }

    @Test func theLastOfTwoMembersOfOneNameCounts() throws {
        #expect(try JSON(parsing: Array(#"{"a":1,"a":2}"#.utf8))["a"]?.integer == 2)
    }

    @Test func integersKeepAllTheirDigits() throws {
        #expect(try JSON(parsing: Array("9223372036854775807".utf8)) == 9_223_372_036_854_775_807)
        #expect(try JSON(parsing: Array("9223372036854775808".utf8)) == .double(9_223_372_036_854_775_808))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "'a'", "01", "-", "1.", ".5", "1e", "+1", "tru",
        "nul", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\n\"", "1 2",
        "[1 2]", "// c\n1", "NaN", "1e999", "\u{FEFF}1",
    ])
    func invalidJSONIsRefused(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: Array(text.utf8)) }
    }

    @Test func aStringMustBeUTF8() {
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test func theErrorSaysWhere() throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: Array(#"{"a":tru }"#.utf8)) }
        #expect(error.offset == 8)
        #expect("\(error)".hasPrefix("Not valid JSON at byte 8"))
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(throws: Never.self) { try JSON(parsing: nested(64)) }
        #expect(throws: JSONError.self) { try JSON(parsing: nested(65)) }
        #expect(throws: JSONError.self) { try JSON(parsing: nested(1_000_000)) }
    }
}
