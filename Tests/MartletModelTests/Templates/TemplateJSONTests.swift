import MartletModel
import MartletTesting
import Testing

struct TemplateJSONTests {
    private func render(_ body: String, _ properties: [String: String]) throws -> String {
        let rendered = try CompiledTemplate(Template(body: body), format: .json)
            .render(TemplateProperties(properties))
        return String(decoding: rendered.body, as: UTF8.self)
    }

    @Test(arguments: [
        (##"{"aps":{"alert":"$(title)","badge":"#(count)"}}"##, ##"{"aps":{"alert":"Hi","badge":3}}"##),
        (##"{ "a" : [ "$(title)" , "#(count)",1, true,null ] }"##, ##"{ "a" : [ "Hi" , 3,1, true,null ] }"##),
        (##"{"$(title)":"#(count)","b":"x $(title)"}"##, ##"{"$(title)":3,"b":"x $(title)"}"##),
        (#""$(title)""#, #""Hi""#),
        (##""#(count)""##, "3"),
        (#"["{\"a\" + $(title)}"]"#, #"["aHi"]"#),
        (#"["{'\"' + $(title) + '\n\\'}"]"#, #"["\"Hi\n\\"]"#),
        (#"["$(missing:{\\}\"})"]"#, #"["}\""]"#),
        (#"["\u0024(title)","\u007b'x'}"]"#, #"["Hi","x"]"#),
        (#"{"a":"plain \u00e9\/","b":{"c":"$(title)"}}"#, #"{"a":"plain \u00e9\/","b":{"c":"Hi"}}"#),
        (#"{"a":{"$(x)" : "$(title)"}}"#, #"{"a":{"$(x)" : "Hi"}}"#),
        (##"{"n":"#(missing:{7})"}"##, ##"{"n":7}"##),
    ])
    func stringsThatAreExpressionsAreReplacedAndNothingElse(body: String, rendered: String) throws {
        #expect(try render(body, ["title": "Hi", "count": "3"]) == rendered)
    }

    @Test(arguments: ["0", "3", "10", "1.5", "0.25", "1e3", "1E+3", "12.5e-7", "123456789012345678901234567890"])
    func aNumberStandsWithoutItsQuotes(number: String) throws {
        #expect(try render(##"{"n":"#(n)"}"##, ["n": number]) == "{\"n\":\(number)}")
    }

    @Test(arguments: [
        "", "-1", "+1", "01", "1.", ".5", "1e", "1e+", "0x10", "1 ", " 1", "1,5", "true", "null", "NaN",
        "１",
    ])
    func whatIsNoNumberGivesNothingToSend(text: String) throws {
        let error = #expect(throws: TemplateRenderingError.self) { try render(##"{"n":"#(n)"}"##, ["n": text]) }
        #expect(error == .notANumber(property: "n"))
        #expect(throws: TemplateRenderingError.notANumber(property: "n")) { try render(##"{"n":"#(n)"}"##, [:]) }
    }

    @Test func valuesAreEscapedForJSON() throws {
        let value = "\"\\/\n\r\t\u{0}\u{1F}\u{7F} é 🦜 \u{2028}</script>"
        #expect(
            try render(#"["$(v)"]"#, ["v": value])
                == "[\"\\\"\\\\/\\n\\r\\t\\u0000\\u001f\u{7F} é 🦜 \u{2028}</script>\"]")
    }

    @Test(arguments: [
        ("", "is empty"), ("{", "not valid JSON"), (#"{"a":"$(b)",}"#, "not valid JSON"),
        (#"{a:"$(b)"}"#, "not valid JSON"), ("$(a)", "not valid JSON"), ("<a/>", "not valid JSON"),
    ])
    func aBodyMustBeJSON(body: String, reason: String) throws {
        let error = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: body), format: .json)
        }
        #expect("\(error)".contains(reason))
    }

    @Test func theErrorSaysWhichValueItIs() throws {
        let error = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: #"{"a":"$(b)","c":"$(d"}"#), format: .json)
        }
        #expect(error.index == .bodyAt(17))
        #expect(
            "\(error)"
                == "The template's body, at byte 17, has the expression '$(d', which has no ) where its property ends.")
    }

    /// Whatever properties hold, a rendering is valid JSON whose strings are the values.
    @Test func anyValueSurvivesAJSONTemplate() throws {
        let template = try CompiledTemplate(
            Template(
                body:
                    ##"{"a":"$(a)","list":["$(b)",{"c":"{$(a) + '\"\\' + $(b)}"}],"short":".(a, 5)","u":"%(b)","n":"#(n)"}"##
            ), format: .json)
        var random = SeededGenerator(seed: 0x6D61_7274_6C65_7400)
        for _ in 0..<500 {
            let (a, b) = (random.text(), random.text())
            let number = "\(UInt32.random(in: 0...UInt32.max, using: &random)).5"
            let rendered = try template.render(TemplateProperties(["A": a, "b": b, "n": number]))
            let tree = try JSON(parsing: rendered.body)
            // By scalars: strings that are only canonically equal must not pass.
            func isSame(_ value: JSON?, _ text: String) -> Bool { value?.string?.utf8.elementsEqual(text.utf8) == true }
            #expect(isSame(tree["a"], a))
            #expect(isSame(tree["list"]?.array?[0], b))
            #expect(isSame(tree["list"]?.array?[1]["c"], a + "\"\\" + b))
            #expect(isSame(tree["short"], a.count > 5 ? a.prefix(2) + "..." : a))
            #expect(tree["u"]?.string?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") } == true)
            #expect(tree["n"] == .double(Double(number) ?? 0))
        }
    }
}
