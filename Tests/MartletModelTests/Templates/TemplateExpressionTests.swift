import MartletModel
import Testing

/// Every form of an expression, seen through the whole-text format, which neither adds nor removes escapes.
struct TemplateExpressionTests {
    private static let properties = TemplateProperties([
        "title": "Hi", "name": "Ann", "text": "abcdefghij", "count": "3", "query": "a b&ü/~", "empty": "",
    ])

    private func render(_ text: String) throws -> String {
        let rendered = try CompiledTemplate(Template(body: text), format: .text).render(Self.properties)
        return String(decoding: rendered.body, as: UTF8.self)
    }

    @Test(arguments: [
        ("$(title)", "Hi"),
        ("$( title )", "Hi"),
        ("$(TITLE)", "Hi"),
        ("$(missing)", ""),
        ("$(text, 3)", "abc"),
        ("$(text,3)", "abc"),
        ("$( text , 3 )", "abc"),
        ("$(text, 0)", ""),
        ("$(text, 10)", "abcdefghij"),
        ("$(text, 2147483647)", "abcdefghij"),
        (".(text, 8)", "abcde..."),
        (".(text, 9)", "abcdef..."),
        (".(text, 10)", "abcdefghij"),
        (".(text, 11)", "abcdefghij"),
        (".(text, 4)", "a..."),
        (".(text, 3)", "..."),
        (".(text, 2)", "ab"),
        (".(text, 1)", "a"),
        (".(text, 0)", ""),
        (".(name, 3)", "Ann"),
        (".(missing, 3)", ""),
        ("%(query)", "a%20b%26%C3%BC%2F~"),
        ("%(missing)", ""),
        ("{'Hello, ' + $(name)}", "Hello, Ann"),
        (#"{"Hello, " + $(name)}"#, "Hello, Ann"),
        ("{$(title)}", "Hi"),
        ("{ $(title)+$(name) }", "HiAnn"),
        ("{'it''s ' + $(name)}", "it's Ann"),
        (#"{"say ""hi"" " + 'a"b'}"#, #"say "hi" a"b"#),
        ("{'' + $(name) + \"\"}", "Ann"),
        ("{'a + b} ' + .(text, 5) + '?q=' + %(query)}", "a + b} ab...?q=a%20b%26%C3%BC%2F~"),
        ("{\n 'x'\t+\r\n 'y' }", "xy"),
        ("{'Hello, ' + $(friend:{friend})}", "Hello, friend"),
    ])
    func aFormOfAnExpressionIsEvaluated(text: String, rendered: String) throws {
        #expect(try render(text) == rendered)
    }

    @Test(arguments: [
        ("$(missing:{there})", "there"),
        ("$(title:{there})", "Hi"),
        ("$(empty:{there})", ""),
        ("$(missing:{})", ""),
        (#"$(missing:{a\}b})"#, "a}b"),
        (#"$(missing:{a\\})"#, #"a\"#),
        (#"$(missing:{\a\'})"#, "a'"),
        ("$(missing:{a), (b, 2})", "a), (b, 2"),
        ("$(missing:{ {x })", " {x "),
        ("$(missing:{abcdef}, 4)", "abcd"),
        ("$( missing :{abcdef} , 4 )", "abcd"),
        (".(missing:{abcdef}, 5)", "ab..."),
        ("%(missing:{a b})", "a%20b"),
        ("$(missing:{grüße 🦜})", "grüße 🦜"),
    ])
    func aDefaultStandsForAMissingPropertyOnly(text: String, rendered: String) throws {
        #expect(try render(text) == rendered)
    }

    @Test(arguments: [
        "Hello", " $(title)", "x$(title)", "Hello $(title) and $(name)", "'text'", "\"text\"", "(title)", "+",
    ])
    func valuesThatDoNotBeginLikeAnExpressionAreText(text: String) throws {
        #expect(try render(text) == text)
    }

    @Test(arguments: [
        ("$title", "no ( behind"),
        ("$", "no ( behind"),
        ("# (a)", "no ( behind"),
        ("#FF0000", "no ( behind"),
        ("...", "no ( behind"),
        ("$()", "names no property"),
        ("$( )", "names no property"),
        ("$(:{x})", "names no property"),
        ("$(a", "no ) where"),
        ("$(a ", "no ) where"),
        ("$(a, 3", "no ) where"),
        ("$(a b)", "other characters"),
        ("$(a-b)", "other characters"),
        ("$(é)", "other characters"),
        ("$(a.b)", "other characters"),
        ("$(a,)", "whole number"),
        ("$(a, x)", "whole number"),
        ("$(a, -1)", "whole number"),
        ("$(a, 1.5)", "no ) where"),
        ("$(a, 2147483648)", "whole number"),
        (".(a)", "needs a length"),
        ("%(a, 3)", "do not take"),
        ("$(a:x)", "without a default"),
        ("$(a:{x)", "closing }"),
        (#"$(a:{x\})"#, "closing }"),
        (#"$(a:{x\"#, "closing }"),
        ("$(a:{x}y)", "no ) where"),
        ("$(a) ", "goes on"),
        ("$(a) + $(b)", "braces"),
        ("$(a)$(b)", "braces"),
        ("$(a)}", "goes on"),
        ("{", "must end with }"),
        ("{}", "needs $(…)"),
        ("{ }", "needs $(…)"),
        ("{'a'", "must end with }"),
        ("{'a}", "closing quote"),
        ("{'a' + }", "needs $(…)"),
        ("{+ 'a'}", "needs $(…)"),
        ("{'a' 'b'}", "needs a +"),
        ("{'a' - 'b'}", "needs a +"),
        ("{$(a)$(b)}", "needs a +"),
        ("{#(a)}", "with # inside braces"),
        ("{'a' + #(b)}", "with # inside braces"),
        ("{{'a'}}", "needs $(…)"),
        ("{a}", "needs $(…)"),
        ("$body", "$body, which is not supported"),
        ("$BODY", "$body, which is not supported"),
        ("{'a' + $body}", "$body, which is not supported"),
        ("#(a)", "only the strings of a JSON body"),
    ])
    func aWrongExpressionIsRefusedWithASentence(text: String, reason: String) throws {
        let error = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: text), format: .text)
        }
        #expect(error.index == .bodyAt(0))
        #expect("\(error)".contains(reason), "\(error)")
        #expect("\(error)".hasPrefix("The template's body, at byte 0, has ") && "\(error)".hasSuffix("."))
    }

    @Test func anErrorShowsOnlyTheBeginningOfAnExpression() throws {
        let text = "$(" + String(repeating: "a", count: 100) + "\n\u{7}-secret)"
        let error = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: text), format: .text)
        }
        #expect("\(error)".contains("aaa…'"))
        #expect(!"\(error)".contains("secret") && !"\(error)".contains("\n"))
        let short = try #require(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: "$(a\n\u{7}-)"), format: .text)
        }
        #expect("\(short)".contains("'$(a\u{FFFD}\u{FFFD}-)'"))
    }

    @Test func aPropertysNameHasAtMost120Characters() throws {
        let name = String(repeating: "n", count: 120)
        let rendered = try CompiledTemplate(Template(body: "$(\(name))"), format: .text)
            .render(TemplateProperties([name.uppercased(): "v"]))
        #expect(rendered.body == Array("v".utf8))
        #expect(throws: TemplateError.self) {
            try CompiledTemplate(Template(body: "$(\(name)n)"), format: .text)
        }
    }

    @Test(arguments: [
        ("🦜🦜🦜🦜", 2, "🦜🦜", "🦜🦜"),
        ("👨‍👩‍👧‍👦🇩🇪e\u{301}xyz", 3, "👨‍👩‍👧‍👦🇩🇪e\u{301}", "..."),
        ("abce\u{301}def", 4, "abce\u{301}", "a..."),
        ("e\u{301}e\u{301}", 1, "e\u{301}", "e\u{301}"),
        ("abcde\u{301}", 5, "abcde\u{301}", "abcde\u{301}"),
        ("abcd\u{301}e", 4, "abcd\u{301}", "a..."),
        ("a\r\nb\r\nc", 3, "a\r\nb", "..."),
        ("日本語テキスト", 4, "日本語テ", "日..."),
    ])
    func lengthsCountWhatAReaderSeesAsOneCharacter(
        text: String, length: Int, first: String, clipped: String
    ) throws {
        let properties = TemplateProperties(["t": text])
        func render(_ expression: String) throws -> String {
            let rendered = try CompiledTemplate(Template(body: expression), format: .text).render(properties)
            return try #require(String(validating: rendered.body, as: UTF8.self))
        }
        #expect(try render("$(t, \(length))") == first)
        #expect(try render(".(t, \(length))") == clipped)
    }

    @Test func theMessageWinsOverTheVariablesAndVariablesOverDefaults() throws {
        let template = try CompiledTemplate(
            Template(body: "{$(a) + '|' + $(b:{x}) + '|' + $(c:{x}) + '|' + $(d:{x})}"), format: .text)
        let rendered = try template.render(
            TemplateProperties(["A": "message", "d": ""]), variables: ["a": "variable", "B": "variable", "d": "v"])
        #expect(String(decoding: rendered.body, as: UTF8.self) == "message|variable|x|")
        #expect(template.propertyNames == ["a", "b", "c", "d"])
    }
}
