import MartletModel
import Testing

/// Every row of the patch table of NotificationHubs.md, section 5.3.
struct InstallationPatchTests {
    /// What the patches below are applied to.
    private static func start() throws -> Installation {
        try Installation(
            parsing: Array(
                """
                {"platform":"p","pushChannel":"c","userId":"u","tags":["a","b"],"pushVariables":{"k":"v"},
                 "templates":{"n":{"body":"x","headers":{"h":"1"},"expiry":"0","tags":["t"]}},
                 "secondaryTiles":{"s":{"pushChannel":"sc","tags":["q"],"templates":{"m":{"body":"y"}}}}}
                """.utf8), id: "i1")
    }

    private static func patched(_ operations: String) throws -> JSON {
        try InstallationPatch(parsing: Array("[\(operations)]".utf8)).apply(to: start()).json
    }

    /// The value at a path of member names, as JSON text; "nothing" where there is none.
    private static func text(_ path: String, in json: JSON) -> String {
        let value = path.split(separator: "/").reduce(Optional(json)) { $0?[String($1)] }
        return value?.text ?? "nothing"
    }

    @Test(
        "Every operation of the table does what the table says",
        arguments: [
            // The channel and the user.
            (#"{"op":"replace","path":"/pushChannel","value":"d"}"#, "pushChannel", #""d""#),
            (#"{"op":"add","path":"/pushChannel","value":{"e":"1"}}"#, "pushChannel", #"{"e":"1"}"#),
            (#"{"op":"replace","path":"/pushChannel","value":"{\"e\":\"1\"}"}"#, "pushChannel", #""{\"e\":\"1\"}""#),
            (#"{"op":"add","path":"/userId","value":"w"}"#, "userId", #""w""#),
            (#"{"op":"replace","path":"/userId","value":null}"#, "userId", "nothing"),
            (#"{"op":"replace","path":"/userId","value":""}"#, "userId", "nothing"),
            (#"{"op":"remove","path":"/userId"}"#, "userId", "nothing"),
            (#"{"op":"remove","path":"/userId","value":null}"#, "userId", "nothing"),
            (
                #"{"op":"replace","path":"/expirationTime","value":"2027-02-19T07:48+0000"}"#, "expirationTime",
                #""2027-02-19T07:48:00.000Z""#
            ),
            // Tags.
            (#"{"op":"add","path":"/tags","value":"t3"}"#, "tags", #"["a","b","t3"]"#),
            (#"{"op":"replace","path":"/tags","value":"t3"}"#, "tags", #"["a","b","t3"]"#),
            (#"{"op":"add","path":"/tags","value":"A"}"#, "tags", #"["a","b"]"#),
            (#"{"op":"add","path":"/tags","value":["c","d"]}"#, "tags", #"["a","b","c","d"]"#),
            (#"{"op":"replace","path":"/tags","value":["c"]}"#, "tags", #"["c"]"#),
            (#"{"op":"replace","path":"/tags","value":"[\"c\"]"}"#, "tags", #"["c"]"#),
            (#"{"op":"remove","path":"/tags"}"#, "tags", "nothing"),
            (#"{"op":"remove","path":"/tags","value":null}"#, "tags", "nothing"),
            (#"{"op":"remove","path":"/tags","value":"a"}"#, "tags", #"["b"]"#),
            (#"{"op":"add","path":"/tags/c","value":"c"}"#, "tags", #"["a","b","c"]"#),
            (#"{"op":"add","path":"/tags/c"}"#, "tags", #"["a","b","c"]"#),
            (#"{"op":"add","path":"/tags/-","value":"c"}"#, "tags", #"["a","b","c"]"#),
            (#"{"op":"replace","path":"/tags/a","value":"c"}"#, "tags", #"["b","c"]"#),
            (#"{"op":"replace","path":"/tags/x","value":"x"}"#, "tags", #"["a","b","x"]"#),
            (#"{"op":"remove","path":"/tags/A"}"#, "tags", #"["b"]"#),
            (#"{"op":"remove","path":"/tags/x"}"#, "tags", #"["a","b"]"#),
            // Push variables.
            (#"{"op":"add","path":"/pushVariables/l","value":"w"}"#, "pushVariables", #"{"k":"v","l":"w"}"#),
            (#"{"op":"replace","path":"/pushVariables/k","value":7}"#, "pushVariables", #"{"k":"7"}"#),
            (#"{"op":"remove","path":"/pushVariables/k"}"#, "pushVariables", "nothing"),
            (#"{"op":"add","path":"/pushVariables","value":{"z":"1"}}"#, "pushVariables", #"{"z":"1"}"#),
            (#"{"op":"remove","path":"/pushVariables"}"#, "pushVariables", "nothing"),
            // Templates.
            (
                #"{"op":"add","path":"/templates/o","value":"{\"body\":\"z\",\"tags\":[\"g\"]}"}"#, "templates/o",
                #"{"body":"z","tags":["g","o"]}"#
            ),
            (#"{"op":"add","path":"/templates/o","value":{"body":"z"}}"#, "templates/o", #"{"body":"z","tags":["o"]}"#),
            (
                #"{"op":"replace","path":"/templates/n","value":{"body":"z"}}"#, "templates/n",
                #"{"body":"z","tags":["n"]}"#
            ),
            (#"{"op":"remove","path":"/templates/n"}"#, "templates", "nothing"),
            (#"{"op":"remove","path":"/templates/gone"}"#, "templates/n/body", #""x""#),
            (#"{"op":"remove","path":"/templates"}"#, "templates", "nothing"),
            (#"{"op":"add","path":"/templates","value":{"o":{"body":"z"}}}"#, "templates/n", "nothing"),
            (#"{"op":"replace","path":"/templates/n/body","value":"z"}"#, "templates/n/body", #""z""#),
            (#"{"op":"add","path":"/templates/n/expiry","value":"9"}"#, "templates/n/expiry", #""9""#),
            (#"{"op":"remove","path":"/templates/n/expiry"}"#, "templates/n/expiry", "nothing"),
            (
                #"{"op":"add","path":"/templates/n/headers/g","value":"2"}"#, "templates/n/headers",
                #"{"g":"2","h":"1"}"#
            ),
            (#"{"op":"remove","path":"/templates/n/headers/h"}"#, "templates/n/headers", "nothing"),
            (
                #"{"op":"replace","path":"/templates/n/headers","value":{"g":"2"}}"#, "templates/n/headers",
                #"{"g":"2"}"#
            ),
            (#"{"op":"add","path":"/templates/n/tags","value":"r"}"#, "templates/n/tags", #"["t","r","n"]"#),
            (#"{"op":"add","path":"/templates/n/tags/r","value":"r"}"#, "templates/n/tags", #"["t","r","n"]"#),
            (#"{"op":"remove","path":"/templates/n/tags/t"}"#, "templates/n/tags", #"["n"]"#),
            (#"{"op":"remove","path":"/templates/n/tags"}"#, "templates/n/tags", #"["n"]"#),
            // Secondary tiles.
            (
                #"{"op":"add","path":"/secondaryTiles/o","value":"{\"pushChannel\":\"z\"}"}"#, "secondaryTiles/o",
                #"{"pushChannel":"z","pushChannelExpired":false}"#
            ),
            (#"{"op":"remove","path":"/secondaryTiles/s"}"#, "secondaryTiles", "nothing"),
            (#"{"op":"remove","path":"/secondaryTiles"}"#, "secondaryTiles", "nothing"),
            (
                #"{"op":"replace","path":"/secondaryTiles/s/pushChannel","value":"z"}"#, "secondaryTiles/s/pushChannel",
                #""z""#
            ),
            (#"{"op":"add","path":"/secondaryTiles/s/tags","value":"r"}"#, "secondaryTiles/s/tags", #"["q","r"]"#),
            (#"{"op":"remove","path":"/secondaryTiles/s/tags/q"}"#, "secondaryTiles/s/tags", "nothing"),
            (#"{"op":"remove","path":"/secondaryTiles/s/templates/m"}"#, "secondaryTiles/s/templates", "nothing"),
            (
                #"{"op":"add","path":"/secondaryTiles/s/templates/m/headers/h","value":"1"}"#,
                "secondaryTiles/s/templates/m/headers", #"{"h":"1"}"#
            ),
            // Spellings.
            (#"{"op":"Add","path":"/Tags","value":"t3"}"#, "tags", #"["a","b","t3"]"#),
            (#"{"OP":"REMOVE","Path":"/templates/n"}"#, "templates", "nothing"),
            (
                #"{"op":"add","path":"/pushVariables/a~1b~0c~01","value":"1"}"#, "pushVariables",
                #"{"a/b~c~1":"1","k":"v"}"#
            ),
        ])
    func everyOperationDoesWhatTheTableSays(operation: String, index: String, wanted: String) throws {
        #expect(Self.text(index, in: try Self.patched(operation)) == wanted)
    }

    @Test("Trap 30: a template's value is a text that holds JSON, and remove comes with a null")
    func theFormsOfNETAndJava() throws {
        let patched = try Self.patched(
            #"""
            {"op":"add","path":"/templates/o","value":"{\"body\":\"{\\\"a\\\":\\\"$(m)\\\"}\"}"},
            {"op":"remove","path":"/templates/n","value":null}
            """#)
        #expect(Self.text("templates/o/body", in: patched) == #""{\"a\":\"$(m)\"}""#)
        #expect(Self.text("templates/n", in: patched) == "nothing")
    }

    @Test func operationsAreDoneInTheirOrderAndLeaveTheRest() throws {
        let start = try Self.start()
        let patch = try InstallationPatch(
            parsing: Array(#"[{"op":"add","path":"/tags","value":"c"},{"op":"remove","path":"/tags/c"}]"#.utf8))
        #expect(try patch.apply(to: start) == start)
        #expect(try InstallationPatch(parsing: Array("[]".utf8)).apply(to: start) == start)
    }

    @Test(
        "What does not go is refused with a sentence",
        arguments: [
            (#"1"#, "Operation 1 of the patch is no JSON object."),
            (#"{"path":"/tags"}"#, "The op of operation 1 of the patch is not add, replace or remove."),
            (#"{"op":"move","path":"/tags"}"#, "The op of operation 1 of the patch is not add, replace or remove."),
            (
                #"{"op":"add","path":"tags","value":"a"}"#,
                "The path of operation 1 of the patch is no JSON pointer such as /tags."
            ),
            (#"{"op":"add","value":"a"}"#, "The path of operation 1 of the patch is no JSON pointer such as /tags."),
            (
                #"{"op":"add","path":"/tags/~2","value":"a"}"#,
                "The path of operation 1 of the patch has a ~ that is neither ~0 nor ~1."
            ),
            (
                #"{"op":"add","path":"/colour","value":"red"}"#,
                "A patch cannot change '/colour': an installation has no such path."
            ),
            (
                #"{"op":"replace","path":"/platform","value":"q"}"#,
                "A patch cannot change '/platform': an installation has no such path."
            ),
            (#"{"op":"add","path":"/","value":"a"}"#, "A patch cannot change '/': an installation has no such path."),
            (
                #"{"op":"add","path":"/tags/a/b","value":"a"}"#,
                "A patch cannot change '/tags/a/b': an installation has no such path."
            ),
            (
                #"{"op":"add","path":"/a/b/c/d/e/f/g","value":"a"}"#,
                "A patch cannot change '/a/b/c/d/e/f': an installation has no such path."
            ),
            (#"{"op":"remove","path":"/pushChannel"}"#, "A patch cannot remove '/pushChannel'."),
            (#"{"op":"remove","path":"/expirationTime"}"#, "A patch cannot remove '/expirationTime'."),
            (#"{"op":"remove","path":"/templates/n/body"}"#, "A patch cannot remove '/templates/n/body'."),
            (#"{"op":"add","path":"/tags"}"#, "The operation on '/tags' has no value."),
            (#"{"op":"add","path":"/templates/o","value":null}"#, "The operation on '/templates/o' has no value."),
            (
                #"{"op":"add","path":"/templates/o","value":"x"}"#,
                "The value for '/templates/o' is a text that holds no JSON."
            ),
            (#"{"op":"add","path":"/templates/o","value":{}}"#, "The template 'o' has no body."),
            (#"{"op":"add","path":"/templates/n/body","value":""}"#, "The template 'n' has no body."),
            (
                #"{"op":"add","path":"/templates/o/tags","value":"a"}"#,
                "The installation has no template 'o' to change."
            ),
            (
                #"{"op":"add","path":"/secondaryTiles/o/tags","value":"a"}"#,
                "The installation has no secondary tile 'o' to change."
            ),
            (
                #"{"op":"add","path":"/tags","value":"a b"}"#,
                "The tag for '/tags' is not valid: A tag consists of letters, digits and _ @ # . : - only."
            ),
            (#"{"op":"add","path":"/userId","value":{}}"#, "The value for '/userId' is no text."),
            (
                #"{"op":"add","path":"/expirationTime","value":"soon"}"#,
                "The expirationTime is no date and time such as 2026-01-31T23:59:59Z."
            ),
            (
                #"{"op":"add","path":"/tags","value":[\#((0..<60).map { "\"t\($0)\"" }.joined(separator: ","))]}"#,
                "An installation has at most 60 tags."
            ),
        ])
    func invalidPatchOperationsAreRefused(operation: String, sentence: String) throws {
        let error = try #require(throws: InstallationError.self) { try Self.patched(operation) }
        #expect(error.description.hasPrefix(sentence), "\(error)")
    }

    @Test(
        "A patch is a JSON array of at most 200 operations",
        arguments: [
            (#"{"op":"add","path":"/tags","value":"a"}"#, "The patch is no JSON array of operations."),
            ("", "Not valid JSON at byte 0: a value is missing."),
            (
                "[" + Array(repeating: #"{"op":"remove","path":"/tags"}"#, count: 201).joined(separator: ",") + "]",
                "A patch has at most 200 operations."
            ),
            (String(repeating: " ", count: 131_073), "The patch is larger than 131072 bytes."),
        ])
    func aPatchIsAnArray(text: String, sentence: String) throws {
        let error = try #require(throws: InstallationError.self) { try InstallationPatch(parsing: Array(text.utf8)) }
        #expect(error.description == sentence)
    }

    @Test func manyPatchesCannotGrowAnInstallationBeyondItsLimit() throws {
        let body = String(repeating: "x", count: 60_000)
        var installation = try Self.start()
        let one = try InstallationPatch(
            parsing: Array(#"[{"op":"add","path":"/templates/one","value":{"body":"\#(body)"}}]"#.utf8))
        installation = try one.apply(to: installation)
        let more = try InstallationPatch(
            parsing: Array(
                #"[{"op":"add","path":"/templates/two","value":{"body":"\#(body + body)"}}]"#.utf8))
        let error = try #require(throws: InstallationError.self) { try more.apply(to: installation) }
        #expect(error.description == "The installation is larger than 131072 bytes.")
    }
}
