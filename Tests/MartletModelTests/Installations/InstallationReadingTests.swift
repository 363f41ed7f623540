import MartletModel
import Testing

/// What clients send of an installation (NotificationHubs.md, section 5.2), and what comes back.
struct InstallationReadingTests {
    private static func read(_ text: String, id: String? = "i1") throws -> Installation {
        try Installation(parsing: Array(text.utf8), id: id)
    }

    @Test func everyMemberIsRead() throws {
        let read = try Self.read(
            """
            {"installationId": "7d0c", "userId": "user1", "platform": "pigeon", "pushChannel": "AABB",
             "pushChannelExpired": true, "expirationTime": "2026-02-19T07:48:00Z", "tags": ["a", "b", "A"],
             "pushVariables": {"lang": "en", "age": 7, "vip": true, "none": null},
             "templates": {"news": {"body": "$(title)", "headers": {"x-type": "alert"}, "expiry": "0", "tags": ["t"]}},
             "secondaryTiles": {"tile1": {"pushChannel": "CC", "tags": ["c"], "templates": {"n": {"body": "x"}}}}}
            """, id: nil)
        let tile = SecondaryTile(
            pushChannel: .text("CC"), tags: [try Tag("c")], templates: ["n": InstallationTemplate(body: "x")])
        let wanted = Installation(
            id: "7d0c", userID: "user1", platform: PlatformID(rawValue: "pigeon"), pushChannel: .text("AABB"),
            expirationTime: Timestamp(seconds: 1_771_487_280), tags: [try Tag("a"), try Tag("b")],
            pushVariables: ["lang": "en", "age": "7", "vip": "true"],
            templates: [
                "news": InstallationTemplate(
                    body: "$(title)", headers: ["x-type": "alert"], expiry: "0", tags: [try Tag("t")])
            ],
            secondaryTiles: ["tile1": tile])
        #expect(read == wanted)
    }

    @Test func absentMembersAreLeftOutAndPlatformAndExpiryArePresent() throws {
        let least = try Self.read(
            #"{"platform":"Pigeon","pushChannel":"a","userId":null,"tags":null,"templates":{},"expirationTime":""}"#)
        #expect(
            least.json.text
                == #"{"expirationTime":"9999-12-31T23:59:59.999Z","installationId":"i1","platform":"pigeon","#
                + #""pushChannel":"a","pushChannelExpired":false}"#)
    }

    @Test func writtenValuesReadAsTheSame() throws {
        let written = try Self.read(
            """
            {"userId":"u","platform":"pigeon","pushChannel":{"loft":"n"},"expirationTime":"2026-02-19T07:48:00Z",
             "tags":["b","a"],"pushVariables":{"k":"v"},
             "templates":{"n":{"body":"b","headers":{"h":"1"},"expiry":"0","tags":["n"]}},
             "secondaryTiles":{"t":{"pushChannel":"c","tags":["d"],"templates":{"m":{"body":"b","tags":["m"]}}}}}
            """)
        #expect(try Self.read(written.json.text) == written)
    }

    @Test func theIDInTheAddressStandsAboveTheOneInTheDocument() throws {
        let text = #"{"installationId":"other","platform":"p","pushChannel":"c"}"#
        #expect(try Self.read(text, id: "i1").id == "i1")
        #expect(try Self.read(text, id: nil).id == "other")
    }

    @Test(
        "Trap 31: an expiry comes without seconds, with +0000, or with seven digits",
        arguments: [
            ("2026-02-19T07:48+0000", "2026-02-19T07:48:00.000Z"),
            ("2026-02-19T07:48:00.000Z", "2026-02-19T07:48:00.000Z"),
            ("2026-02-19T07:48:00.1234567Z", "2026-02-19T07:48:00.123Z"),
            ("2026-02-19T09:48:00+02:00", "2026-02-19T07:48:00.000Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59-1200", "9999-12-31T23:59:59.999Z"),
        ])
    func anExpiryIsReadInEveryForm(sent: String, given: String) throws {
        let read = try Self.read(#"{"platform":"p","pushChannel":"c","expirationTime":"\#(sent)"}"#)
        #expect(read.json["expirationTime"]?.string == given)
    }

    @Test(
        "Trap 29: a channel of several parts comes back in the form in which it was stored",
        arguments: [
            #""{\"endpoint\": \"https://push.example/1\", \"p256dh\":\"B\",\"auth\":\"k\"}""#,
            #"{"auth":"k","endpoint":"https://push.example/1","p256dh":"B"}"#,
        ])
    func aChannelKeepsItsForm(channel: String) throws {
        let read = try Self.read(#"{"platform":"p","pushChannel":\#(channel)}"#)
        #expect(read.json["pushChannel"] == (try JSON(parsing: Array(channel.utf8))))
        #expect(read.pushChannel.parts?["endpoint"] == "https://push.example/1")
        #expect(!"\(read)".contains("push.example"), "a channel is a capability")
    }

    @Test func aTextThatHoldsNoObjectHasNoParts() {
        #expect(InstallationChannel.text("AABB").parts == nil)
        #expect(InstallationChannel.text("{broken").parts == nil)
        #expect(InstallationChannel.text("[1]").parts == nil)
    }

    @Test func aTemplatesNameIsAmongItsTagsWhereItCanBeOne() throws {
        let read = try Self.read(
            """
            {"platform":"p","pushChannel":"c","templates":{
             "news":{"body":"x","tags":["a"],"name":"ignored"},"Own":{"body":"x","tags":["own","b"]},
             "two words":{"body":"x"}}}
            """)
        let tags = read.json["templates"]?.object?.mapValues { $0["tags"] }
        #expect(tags == ["news": ["a", "news"], "Own": ["own", "b"], "two words": nil])
    }

    @Test func membersAreTakenInAnyCaseTheExactOneFirst() throws {
        let read = try Self.read(
            #"{"InstallationId":"x","Platform":"P","PushChannel":"other","pushChannel":"c","Tags":["a"]}"#, id: nil)
        #expect(read.id == "x")
        #expect(read.pushChannel == .text("c"))
        #expect(read.tags.map(\.spelling) == ["a"])
    }

    @Test(
        "What is no installation is refused with a sentence",
        arguments: [
            ("[]", "The installation is no JSON object."),
            ("{", "Not valid JSON at byte 1: a member's name in quotes is missing."),
            (#"{"pushChannel":"c"}"#, "The installation has no platform."),
            (#"{"platform":"","pushChannel":"c"}"#, "The installation has no platform."),
            (#"{"platform":7,"pushChannel":"c"}"#, "The platform of the installation is not a text."),
            (#"{"platform":"p"}"#, "The installation has no pushChannel."),
            (#"{"platform":"p","pushChannel":null}"#, "The installation has no pushChannel."),
            (#"{"platform":"p","pushChannel":""}"#, "The installation has an empty pushChannel."),
            (
                #"{"platform":"p","pushChannel":[]}"#,
                "The pushChannel of the installation is neither a text nor an object."
            ),
            (#"{"platform":"p","pushChannel":"c","tags":"a"}"#, "The tags of the installation are no array."),
            (#"{"platform":"p","pushChannel":"c","tags":["a",1]}"#, "Tag 2 of the installation is no text."),
            (
                #"{"platform":"p","pushChannel":"c","tags":["a b"]}"#,
                "Tag 1 of the installation is not valid: A tag consists of letters, digits and _ @ # . : - only."
            ),
            (#"{"platform":"p","pushChannel":"c","userId":1}"#, "The userId of the installation is not a text."),
            (
                #"{"platform":"p","pushChannel":"c","expirationTime":"tomorrow"}"#,
                "The expirationTime is no date and time such as 2026-01-31T23:59:59Z."
            ),
            (
                #"{"platform":"p","pushChannel":"c","pushVariables":{"a":{}}}"#,
                "One of the pushVariables of the installation is no text."
            ),
            (
                #"{"platform":"p","pushChannel":"c","pushVariables":[]}"#,
                "The pushVariables of the installation are no JSON object."
            ),
            (#"{"platform":"p","pushChannel":"c","templates":{"t":"x"}}"#, "The template 't' is no JSON object."),
            (#"{"platform":"p","pushChannel":"c","templates":{"t":{}}}"#, "The template 't' has no body."),
            (
                #"{"platform":"p","pushChannel":"c","templates":{"t":{"body":"b","tags":["é"]}}}"#,
                "Tag 1 of the template 't' is not valid: A tag consists of letters, digits and _ @ # . : - only."
            ),
            (
                #"{"platform":"p","pushChannel":"c","secondaryTiles":{"s":{"tags":[]}}}"#,
                "The secondary tile 's' has no pushChannel."
            ),
            (
                #"{"platform":"p","pushChannel":"c","secondaryTiles":[]}"#,
                "The secondaryTiles of the installation are no JSON object."
            ),
        ])
    func invalidInstallationsAreRefused(text: String, sentence: String) throws {
        let error = try #require(throws: InstallationError.self) { try Self.read(text) }
        #expect(error.description == sentence)
    }

    @Test func anInstallationWithoutAnIDIsRefused() throws {
        let error = try #require(throws: InstallationError.self) {
            try Self.read(#"{"platform":"p","pushChannel":"c"}"#, id: nil)
        }
        #expect(error.description == "The installation has no installationId.")
    }

    @Test(arguments: ["fake-fcm-install-id1", "7D0C0000-0000", "a", "ü", "a=b@c", String(repeating: "x", count: 256)])
    func anIDIsAnyTextOfOneSegment(id: String) throws {
        #expect(Installation.isValid(id: id))
        #expect(try Self.read(#"{"platform":"p","pushChannel":"c"}"#, id: id).systemTags.count == 1)
    }

    @Test(arguments: ["", "a b", "a/b", "a\\b", "a,b", "{a}", "a\n", String(repeating: "x", count: 257)])
    func invalidIDsAreRefused(id: String) {
        #expect(!Installation.isValid(id: id))
        #expect(throws: InstallationError.self) { try Self.read(#"{"platform":"p","pushChannel":"c"}"#, id: id) }
    }

    /// `count` times the text, with `#` as the number, between commas.
    private static func many(_ count: Int, _ text: String) -> String {
        (1...count).map { text.replacing("#", with: "\($0)") }.joined(separator: ",")
    }

    private static func limits() -> [(String, String)] {
        let long = String(repeating: "x", count: 4097)
        return [
            (#""tags":[\#(many(61, #""t#""#))]"#, "at most 60 tags"),
            (#""pushVariables":{\#(many(61, #""v#":"""#))}"#, "at most 60 push variables"),
            (#""templates":{\#(many(61, #""t#":{"body":"b"}"#))}"#, "at most 60 templates"),
            (#""secondaryTiles":{\#(many(21, #""t#":{"pushChannel":"c"}"#))}"#, "at most 20 secondary tiles"),
            (#""templates":{"t":{"body":"b","headers":{\#(many(33, #""h#":"""#))}}}"#, "at most 32 headers"),
            (#""templates":{"t":{"body":"b","tags":[\#(many(61, #""t#""#))]}}"#, "A template has at most 60 tags"),
            (#""templates":{"\#(long.prefix(201))":{"body":"b"}}"#, "The name of a template has 1 to 200 characters"),
            (#""templates":{"":{"body":"b"}}"#, "The name of a template has 1 to 200 characters"),
            (#""pushVariables":{"v":"\#(long)"}"#, "The push variable 'v' is larger than 4096 bytes"),
            (
                #""templates":{\#(many(40, #""t#":{"body":"\#(long)"}"#))}"#,
                "The installation is larger than 131072 bytes"
            ),
            (#""x":\#(String(repeating: "[", count: 20))"#, "arrays and objects lie too deep"),
        ]
    }

    @Test("Size, count and depth are limited", arguments: limits())
    func limitsAreKept(member: String, sentence: String) throws {
        let error = try #require(throws: InstallationError.self) {
            try Self.read(#"{"platform":"p","pushChannel":"c",\#(member)}"#)
        }
        #expect(error.description.contains(sentence))
    }

    @Test func aChannelIsLimited() throws {
        let text = #"{"platform":"p","pushChannel":"\#(String(repeating: "c", count: 8193))"}"#
        let error = try #require(throws: InstallationError.self) { try Self.read(text) }
        #expect(error.description == "The pushChannel of the installation is larger than 8192 bytes.")
    }
}
