import MartletModel
import Testing

/// Headers, options and the limits of templates and renderings.
struct TemplateFieldTests {
    @Test func headersAndOptionsAreValuesToo() throws {
        let template = try CompiledTemplate(
            Template(
                name: "news", body: "{}",
                headers: [
                    Template.Header(name: "apns-collapse-id", value: "{'id-' + $(id)}"),
                    Template.Header(name: "apns-push-type", value: " alert\t"),
                    Template.Header(name: "x-$id", value: "not $(id)"),
                ], options: ["Expiry": "$(expiry:{0})", "Priority": "10"]), format: .json)
        let rendered = try template.render(TemplateProperties(["id": "7 ", "expiry": "2026-01-01T00:00:00Z"]))
        #expect(rendered.body == Array("{}".utf8))
        #expect(
            rendered.headers == [
                Template.Header(name: "apns-collapse-id", value: "id-7"),
                Template.Header(name: "apns-push-type", value: "alert"),
                Template.Header(name: "x-$id", value: "not $(id)"),
            ])
        #expect(rendered.options == ["Expiry": "2026-01-01T00:00:00Z", "Priority": "10"])
        #expect(template.propertyNames == ["id", "expiry"])
        #expect(try template.render(TemplateProperties()).options["Expiry"] == "0")
    }

    @Test(arguments: ["\n", "\r", "\r\nx-evil: 1", "\u{0}", "a\u{1F}b", "\u{7F}"])
    func aControlCharacterInAHeaderOrOptionGivesNothingToSend(value: String) throws {
        let properties = TemplateProperties(["v": value])
        let header = Template(body: "{}", headers: [Template.Header(name: "x-a", value: "$(v)")])
        #expect(throws: TemplateRenderingError.controlCharacter(name: "x-a")) {
            try CompiledTemplate(header, format: .json).render(properties)
        }
        let option = Template(body: "{}", options: ["Expiry": "$(v)"])
        #expect(throws: TemplateRenderingError.controlCharacter(name: "Expiry")) {
            try CompiledTemplate(option, format: .json).render(properties)
        }
        let literal = Template(body: "{}", headers: [Template.Header(name: "x-a", value: "a\(value)b")])
        #expect(throws: TemplateError.self) { try CompiledTemplate(literal, format: .json) }
    }

    @Test func theErrorNamesTheHeaderOrOption() throws {
        func description(_ template: Template) throws -> String {
            "\(try #require(throws: TemplateError.self) { try CompiledTemplate(template, format: .json) })"
        }
        let header = try description(Template(body: "{}", headers: [Template.Header(name: "x-a", value: "$(v")]))
        #expect(
            header == "The template's header 'x-a' has the expression '$(v', which has no ) where its property ends.")
        let option = try description(Template(body: "{}", options: ["Expiry": ".(v)"]))
        #expect(
            option == "The template's 'Expiry' has the expression '.(v)', which needs a length, as in .(title, 20).")
        #expect(try description(Template(body: "{}", options: ["Priority": "#(v)"])).contains("JSON body"))
        #expect(
            try description(Template(body: "{}", headers: [Template.Header(name: "a b", value: "")])).contains("HTTP"))
        #expect(
            try description(Template(body: "{}", headers: [Template.Header(name: "", value: "x")])).contains("HTTP"))
    }

    @Test func everyPartOfATemplateHasALimit() throws {
        func isRefused(_ template: Template, _ reason: String) throws {
            let error = try #require(throws: TemplateError.self) { try CompiledTemplate(template, format: .json) }
            #expect("\(error)".contains(reason), "\(error)")
        }
        func headers(_ count: Int) -> [Template.Header] {
            (0..<count).map { Template.Header(name: "h\($0)", value: "v") }
        }
        func array(_ count: Int) -> String {
            "[" + Array(repeating: "\"$(a)\"", count: count).joined(separator: ",") + "]"
        }
        let long = String(repeating: "x", count: 65_537)
        try isRefused(Template(name: String(long.prefix(201)), body: "{}"), "more than 200 characters")
        try isRefused(Template(body: "\"\(long)\""), "more than 65536 bytes")
        try isRefused(Template(body: "{}", headers: headers(33)), "more than 32 headers")
        try isRefused(
            Template(body: "{}", options: Dictionary(uniqueKeysWithValues: headers(33).map { ($0.name, $0.value) })),
            "more than 32 options")
        try isRefused(
            Template(body: "{}", headers: [Template.Header(name: String(long.prefix(129)), value: "")]), "128 bytes")
        try isRefused(
            Template(body: "{}", headers: [Template.Header(name: "h", value: String(long.prefix(4097)))]), "4096 bytes")
        try isRefused(Template(body: "{}", options: ["o": String(long.prefix(4097))]), "4096 bytes")
        try isRefused(Template(body: array(513)), "more than 512 properties")
        try isRefused(
            Template(body: String(repeating: "[", count: 65) + String(repeating: "]", count: 65)), "not valid JSON")
        #expect(throws: Never.self) {
            try CompiledTemplate(
                Template(
                    name: String(repeating: "🦜", count: 200), body: array(512),
                    headers: headers(31) + [
                        Template.Header(name: String(long.prefix(128)), value: String(long.prefix(4096)))
                    ]), format: .json)
        }
    }

    @Test func aRenderingCannotGrowBeyondItsLimit() throws {
        let large = TemplateProperties(["a": String(repeating: "\u{1}", count: 60_000)])
        let array = "[" + Array(repeating: "\"$(a)\"", count: 512).joined(separator: ",") + "]"
        let composition = "[\"{" + Array(repeating: "$(a)", count: 512).joined(separator: "+") + "}\"]"
        for body in [array, composition] {
            #expect(throws: TemplateRenderingError.tooLarge(limit: 65_536)) {
                try CompiledTemplate(Template(body: body), format: .json).render(large)
            }
        }
        let fitting = TemplateProperties(["a": String(repeating: "x", count: 65_532)])
        let plain = try CompiledTemplate(Template(body: #"["$(a)"]"#), format: .json)
        #expect(try plain.render(fitting).body.count == 65_536)
        let withHeader = Template(body: #"["$(a)"]"#, headers: [Template.Header(name: "h", value: "v")])
        #expect(throws: TemplateRenderingError.tooLarge(limit: 65_536)) {
            try CompiledTemplate(withHeader, format: .json).render(fitting)
        }
    }

    @Test func theSentencesOfRenderingErrorsShowNoValues() {
        #expect("\(TemplateRenderingError.notANumber(property: "n"))".contains("number in the property 'n'"))
        #expect("\(TemplateRenderingError.controlCharacter(name: "x-a"))".contains("'x-a'"))
        #expect("\(TemplateRenderingError.tooLarge(limit: 9))".contains("more than 9 bytes"))
    }

    @Test(arguments: [
        ("<toast/>", TemplateFormat.xml), ("\n <a/>", .xml), (#"{"a":"$(b)"}"#, .json), (" [1]", .json),
        ("{'a' + $(b)}", .text), ("$(b)", .text), ("plain", .text), ("", .text), (#"{"a" + $(b)}"#, .text),
    ])
    func theFormatOfARawBodyIsSeenFromItsText(body: String, format: TemplateFormat) {
        #expect(TemplateFormat(of: body) == format)
    }
}
