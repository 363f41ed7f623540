import MartletHTTP
import MartletModel
import Testing

@testable import MartletHubAPI

struct DirectBatchTests {
    /// A body as a known client writes it.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let contentType: String
        let body: String

        init(_ name: String, _ contentType: String, _ lines: [String], end: String = "\r\n") {
            testDescription = name
            self.contentType = contentType
            body = lines.joined(separator: end)
        }
    }

    static let forms: [Form] = [
        Form(
            ".NET: quoted boundary", #"multipart/mixed; boundary="nh-batch-multipart-boundary""#,
            [
                "--nh-batch-multipart-boundary", "Content-Type: application/json; charset=utf-8",
                "Content-Disposition: inline; name=notification", "", #"{"a":"é"}"#, "--nh-batch-multipart-boundary",
                "Content-Type: application/json; charset=utf-8", "Content-Disposition: inline; name=devices", "",
                #"["H1","H2"]"#, "--nh-batch-multipart-boundary--", "",
            ]),
        Form(
            "Java: bare boundary, disposition first", "multipart/mixed; boundary=nh-batch-multipart-boundary",
            [
                "--nh-batch-multipart-boundary", "Content-Disposition: inline; name=notification",
                "Content-Type: application/json;charset=utf-8", "", #"{"a":"é"}"#, "--nh-batch-multipart-boundary",
                "Content-Disposition: inline; name=devices", "Content-Type: application/json;charset=utf-8", "",
                #"["H1","H2"]"#, "--nh-batch-multipart-boundary--", "",
            ]),
        Form(
            "JavaScript: blanks around the equals sign, nothing behind the last delimiter",
            #"multipart/mixed; boundary = "nh-boundary-3bb0f0b2-2f4d-4b1b-8f2c-0a6b3f1a8c11""#,
            [
                "--nh-boundary-3bb0f0b2-2f4d-4b1b-8f2c-0a6b3f1a8c11", "Content-type: application/json",
                "Content-Disposition: inline; name=notification", "", #"{"a":"é"}"#,
                "--nh-boundary-3bb0f0b2-2f4d-4b1b-8f2c-0a6b3f1a8c11", "Content-type: application/json",
                "Content-Disposition: inline; name=devices", "", #"["H1","H2"]"#,
                "--nh-boundary-3bb0f0b2-2f4d-4b1b-8f2c-0a6b3f1a8c11--",
            ]),
        Form(
            "Published samples: blank lines in front, single quotes",
            #"multipart/mixed; boundary = "simple-boundary""#,
            [
                "", "", "--simple-boundary", "Content-Type: application/json",
                "Content-Disposition: inline; name=notification", "", #"{"a":"é"}"#, "--simple-boundary",
                "Content-Type: application/json", "Content-Disposition: inline; name=devices", "", "['H1','H2']",
                "--simple-boundary--",
            ]),
        Form(
            "Parts in the other order, quoted names, any case, no other header",
            "Multipart/Mixed;BOUNDARY=b",
            [
                "--b", #"CONTENT-DISPOSITION: inline; Name="devices""#, "", #" [ "H1" , 'H2' ] "#, "--b  ",
                #"content-disposition:inline;name="notification""#, "", #"{"a":"é"}"#, "--b-- ", "afterwards",
            ]),
        Form(
            "Bare line feeds", "multipart/mixed; boundary=b",
            [
                "--b", "Content-Disposition: inline; name=notification", "", #"{"a":"é"}"#, "--b",
                "Content-Disposition: inline; name=devices", "", #"["H1","H2"]"#, "--b--",
            ], end: "\n"),
    ]

    @Test("Trap 35: every client's batch is read", arguments: forms)
    func everyClientsBatchIsRead(form: Form) throws {
        let batch = try DirectBatch(Array(form.body.utf8), contentType: form.contentType)
        #expect(String(decoding: batch.message, as: UTF8.self) == #"{"a":"é"}"#)
        #expect(batch.devices == ["H1", "H2"])
    }

    @Test func aMessageIsTakenByteByByte() throws {
        let message = "\r\n--bb\r\n --b\r\nContent-Type: x\n\r\n\r\n"
        #expect(String(decoding: try batch(message: message).message, as: UTF8.self) == message)
        #expect(try batch(message: "").message.isEmpty)
    }

    @Test(
        "Trap 35: handles come in double or single quotes",
        arguments: [
            (#"['a"b']"#, [#"a"b"#]), (#"['it\'s','\u0041\\']"#, ["it's", #"A\"#]), (#"["it's"]"#, ["it's"]),
            ("[\n'https://a.example/?x=1&y=2'\n]", ["https://a.example/?x=1&y=2"]),
        ] as [(String, [String])])
    func handlesComeInEitherQuotes(text: String, handles: [String]) throws {
        #expect(try batch(devices: text).devices == handles)
    }

    @Test(arguments: [
        "", "{}", "[1]", "[\"a\",null]", "['a]", "[\"a'", "[[\"a\"]]", "[\"a\"", "[\"\"]", "['a'\\", "'a'", "[a]",
        "['a',]", "[\"a\\", "[]",
    ])
    func invalidListsOfHandlesAreRefused(text: String) {
        #expect(throws: HubAPIError.self) { _ = try batch(devices: text) }
    }

    @Test func aBatchHasAThousandDevicesAtMost() throws {
        func list(_ count: Int) -> String { "[" + repeatElement("\"a\"", count: count).joined(separator: ",") + "]" }
        #expect(try batch(devices: list(1000)).devices.count == 1000)
        #expect {
            _ = try batch(devices: list(1001))
        } throws: { ($0 as? HubAPIError)?.sentence == "A batch has 1 to 1000 devices" }
    }

    @Test func aMessageOverTheLimitIsA413() throws {
        let limit = SendRequest.sizeLimit
        #expect(try batch(message: String(repeating: "x", count: limit)).message.count == limit)
        #expect {
            _ = try batch(message: String(repeating: "x", count: limit + 1))
        } throws: { ($0 as? HubAPIError)?.status == .contentTooLarge }
    }

    @Test(
        "A body that is no batch is refused in a sentence",
        arguments: [
            ("multipart/mixed; boundary=b", "", "no line with the boundary"),
            ("multipart/mixed; boundary=b", "--b\r\n", "does not end with its boundary"),
            ("multipart/mixed; boundary=b", "--b--", "two parts, named notification and devices"),
            ("multipart/mixed; boundary=b", "--b\r\nx\r\n\r\n--b--", "has no colon"),
            ("multipart/mixed; boundary=b", "--b\r\n\r\n--b--", "no Content-Disposition"),
            ("multipart/mixed; boundary=b", "--b\r\nContent-Disposition: inline\r\n\r\n--b--", "must be such as"),
            (
                "multipart/mixed; boundary=b",
                "--b\r\nContent-Disposition: inline; name=a\r\n\r\n--b\r\nContent-Disposition: inline; name=a\r\n\r\n--b--",
                "the same name"
            ),
            (nil, "--b--", "with a boundary of at most 70 characters"),
            ("application/json; boundary=b", "--b--", "with a boundary"),
            ("multipart/mixed", "--b--", "with a boundary"),
            ("multipart/mixed; boundary=\"b", "--b--", "with a boundary"),
            ("multipart/mixed; boundary=", "--b--", "with a boundary"),
            ("multipart/mixed; boundary=\(String(repeating: "b", count: 71))", "--b--", "with a boundary"),
        ] as [(String?, String, String)])
    func aBodyThatIsNoBatchIsRefused(contentType: String?, body: String, sentence: String) {
        #expect {
            _ = try DirectBatch(Array(body.utf8), contentType: contentType)
        } throws: { error in
            guard let error = error as? HubAPIError else { return false }
            return error.status == .badRequest && error.sentence.contains(sentence)
        }
    }

    @Test func partsAndTheirHeadersHaveBounds() {
        let part = { (name: String) in "--b\r\nContent-Disposition: inline; name=\(name)\r\n\r\n\r\n" }
        let many = (0...8).map { part("p\($0)") }.joined() + "--b--"
        let lines = "--b\r\n" + String(repeating: "a: b\r\n", count: 17) + "\r\n--b--"
        let long = "--b\r\na: \(String(repeating: "b", count: 4100))\r\n\r\n--b--"
        for (body, limit) in [(many, "8 parts"), (lines, "16 headers"), (long, "4096 bytes")] {
            #expect {
                _ = try DirectBatch(Array(body.utf8), contentType: "multipart/mixed; boundary=b")
            } throws: { ($0 as? HubAPIError)?.sentence.contains(limit) == true }
        }
    }

    private func batch(message: String = "{}", devices: String = "['a']") throws -> DirectBatch {
        let body =
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n\(message)\r\n"
            + "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n\(devices)\r\n--b--\r\n"
        return try DirectBatch(Array(body.utf8), contentType: "multipart/mixed; boundary=b")
    }
}
