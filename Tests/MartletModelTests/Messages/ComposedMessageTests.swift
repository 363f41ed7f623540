import Testing

@testable import MartletModel

struct ComposedMessageTests {
    private func refusal(_ text: String) -> String? {
        do throws(ComposedMessageError) {
            _ = try ComposedMessage(parsing: Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    private static let whole = """
        {"title": {"en": "Half price", "de": "Halber Preis"}, "subtitle": "Today", "text": {"en": "$(name), hurry",
        "de": "$(NAME), schnell"}, "language": "en", "variables": {"name": "Hello"}, "link": "https://shop.example/sale",
        "picture": "https://shop.example/p.jpg", "sound": "default", "badge": "+1", "data": {"sale": "17"},
        "actions": [{"id": "buy", "title": {"en": "Buy", "de": "Kaufen"}, "link": "shop:buy"}], "priority": "high",
        "thread": "sales", "collapse": "sale", "truncate": true, "platforms": {"adm": false,
        "apns": {"merge": {"aps": {"relevance-score": 0.5}}}, "wns": {"payload": "<toast/>",
        "headers": {"X-WNS-Type": "wns/toast"}}}}
        """

    @Test func everyMemberIsReadAndWrittenAgain() throws {
        let message = try ComposedMessage(parsing: Array(Self.whole.utf8))
        #expect(message.languages.tags.map(\.spelling) == ["en", "de"])
        #expect(message.badge == .increment && message.sound == .default && message.priority == .high)
        #expect(message.platforms["adm"] == .omitted)
        #expect(message.platforms["wns"] == .payload(Array("<toast/>".utf8), headers: ["x-wns-type": "wns/toast"]))
        #expect(message.usedVariables == ["name"])
        #expect(try ComposedMessage(parsing: message.json.bytes) == message)
    }

    @Test(
        "What cannot be a message is refused by a sentence that names it",
        arguments: [
            ("[]", "The message must be a JSON object."),
            ("{\"text\": ", "The message must be a JSON object. Not valid JSON at byte 9: a value is missing."),
            (#"{"tittle": "x", "text": "y"}"#, "The message has the unknown member 'tittle'."),
            (
                #"{"text": "x", "actions": [{"id": "a", "title": "b", "url": "c"}]}"#,
                "The message has the unknown member 'actions[0].url'."
            ),
            (#"{}"#, "The message needs a title or a text, or must be silent."),
            (#"{"subtitle": "x"}"#, "The message needs a title or a text, or must be silent."),
            (#"{"text": 1}"#, "The message's text must be a text, or an object of texts by language."),
            (#"{"title": ""}"#, "The message's title must be a text of 1 to 1,024 bytes without control characters."),
            (
                #"{"text": "a\u0000"}"#,
                "The message's text must be a text of 1 to 16,384 bytes without control characters."
            ),
            (
                #"{"text": {"de": "x"}}"#,
                "The message's text has languages, so the message needs the member language, for all other devices."
            ),
            (#"{"text": {"de": "x"}, "language": "en"}"#, "The message's text needs the message's own language, en."),
            (#"{"text": {"en": "x", "EN": "y"}, "language": "en"}"#, "The message's text has the language 'en' twice."),
            (
                #"{"text": {"en": "x", "e_n": "y"}, "language": "en"}"#,
                "The message's text has 'e_n', which is no language tag."
            ),
            (
                #"{"text": "x", "language": "english!"}"#,
                "The message's language must be a language tag such as de or pt-BR."
            ),
            (
                #"{"text": "$(name)", "variables": {"nam": "x"}}"#,
                "The message's text uses $(name), so variables must have a default for devices without a value."
            ),
            (
                #"{"text": "x", "variables": {"a b": "c"}}"#,
                "The message's variables have the name 'a b'; a name is 1 to 64 of A-Z a-z 0-9 _."
            ),
            (#"{"text": "x", "variables": {"a": "b", "A": "c"}}"#, "The message's variables have the name 'a' twice."),
            (
                #"{"text": "x", "link": "javascript:alert(1)"}"#,
                "The message's link must be an absolute address, without javascript:, data:, file: or vbscript:, of at most 2048 bytes."
            ),
            (
                #"{"text": "x", "picture": "http://a.example/p"}"#,
                "The message's picture must be an absolute https address, of at most 2048 bytes."
            ),
            (
                #"{"text": "x", "sound": "a b"}"#,
                "The message's sound must be default, none, or a name of 1 to 64 of A-Z a-z 0-9 . _ -."
            ),
            (#"{"text": "x", "badge": 100000}"#, "The message's badge must be a number from 0 to 99,999, or \"+1\"."),
            (#"{"text": "x", "badge": "+2"}"#, "The message's badge must be a number from 0 to 99,999, or \"+1\"."),
            (
                #"{"text": "x", "data": {"Link": "y"}}"#,
                "The message's data has the name 'Link', which is reserved for payloads."
            ),
            (#"{"text": "x", "data": {"a": 1}}"#, "The message's data.a must be a text."),
            (
                #"{"text": "x", "actions": [{"id": "a", "title": "b"}, {"id": "a", "title": "c"}]}"#,
                "The message has two actions with the id 'a'."
            ),
            (
                #"{"text": "x", "actions": [{"id": "a"}]}"#,
                "The message's actions[0] must be an object with id and title."
            ),
            (#"{"text": "x", "priority": "urgent"}"#, "The message's priority must be low, normal or high."),
            (
                #"{"text": "x", "collapse": "a b"}"#,
                "The message's collapse must be 1 to 64 visible ASCII characters without spaces."
            ),
            (#"{"text": "x", "truncate": "yes"}"#, "The message's truncate must be true or false."),
            (#"{"silent": true, "text": "x"}"#, "The message is silent, so it can only have data, and no text."),
            (
                #"{"text": "x", "platforms": {"apns": true}}"#,
                "The message's platforms.apns must be false, or an object with merge, or with payload and headers."
            ),
            (
                #"{"text": "x", "platforms": {"apns": {"merge": {}, "headers": {}}}}"#,
                "The message's platforms.apns.headers go with a payload only."
            ),
            (
                #"{"text": "x", "platforms": {"apns": {"payload": "x", "headers": {"a": "b\n"}}}}"#,
                "The message's platforms.apns.headers must be an object of at most 20 header fields in printable ASCII."
            ),
            (
                #"{"text": "x", "platforms": {"apns": {"payload": "x", "headers": {"a: b": "c"}}}}"#,
                "The message's platforms.apns.headers have the name 'a: b', which is none for an HTTP header."
            ),
            (
                #"{"text": "x", "platforms": {"apns": {"payload": "x", "headers": {"a:b": "c"}}}}"#,
                "The message's platforms.apns.headers have the name 'a:b', which is none for an HTTP header."
            ),
        ])
    func isRefused(text: String, sentence: String) {
        #expect(refusal(text) == sentence)
    }

    @Test func aLargerBodyIsTooLargeAndNotWrong() {
        let body = Array(repeating: UInt8(ascii: " "), count: ComposedMessage.Limit.body + 1)
        #expect {
            try ComposedMessage(parsing: body)
        } throws: { error in
            (error as? ComposedMessageError)?.isTooLarge == true
                && "\(error)" == "The message has 65,537 bytes and may have 65,536."
        }
    }

    @Test(arguments: [
        ("file:///etc/passwd", false), ("DATA:text/html,x", false), ("vbscript:x", false),
        ("https://a.example/ b", false),
        ("/relative", false), ("https:", false), ("myapp:open", true), ("https://a.example/?q=%20#x", true),
        ("HTTPS://a.example/", true), ("1a:x", false), (":x", false), ("", false),
    ])
    func aLinkIsAnAbsoluteAddressThatRunsNothing(text: String, isAllowed: Bool) {
        #expect(MessageAddress.isAllowed(text, schemes: nil) == isAllowed)
    }

    @Test func onlyWholeReferencesToVariablesAreReplaced() throws {
        let message = try ComposedMessage(
            parsing: Array(#"{"text": "$ $( $() $(a b) $(x)$(X) $(x", "variables": {"x": "$(x)"}}"#.utf8))
        #expect(message.localized(in: nil).text == "$ $( $() $(a b) $(x)$(x) $(x")
        #expect(message.localized(in: nil) { ["x": "1"][$0] }.text == "$ $( $() $(a b) 11 $(x")
    }

    @Test func withoutVariablesAReferenceIsText() throws {
        let message = try ComposedMessage(parsing: Array(#"{"title": "$(a)", "text": "echo $(date)"}"#.utf8))
        let localized = message.localized(in: nil) { _ in "1" }
        #expect(message.usedVariables.isEmpty)
        #expect(localized.title == "$(a)" && localized.text == "echo $(date)")
    }

    @Test func aMergePatchReplacesAddsAndRemoves() throws {
        let value: JSON = ["a": ["b": 1, "c": [1, 2]], "d": 2]
        let patch: JSON = ["a": ["b": .null, "e": ["f": .null, "g": 3]], "d": ["h": 4]]
        #expect(value.merged(with: patch) == ["a": ["c": [1, 2], "e": ["g": 3]], "d": ["h": 4]])
    }
}
