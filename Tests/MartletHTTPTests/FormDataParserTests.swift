import Testing

@testable import MartletHTTP

struct FormDataParserTests {
    typealias Event = FormDataParser.Event

    static let limits = FormDataParser.Limits(parts: 8, headerBytes: 400, fieldBytes: 100, fileBytes: 1000)
    private static let type = "multipart/form-data; boundary=XX"
    private static let form = """
        --XX\r
        Content-Disposition: form-data; name="to"\r
        \r
        alice, bob\r
        --XX\r
        content-type: image/png; a=b\r
        CONTENT-DISPOSITION: form-data; filename="../../etc/passwd"; name=file\r
        Content-Transfer-Encoding: binary\r
        X-Other: 1\r
        \r
        \r\n\r\n--X\r--XX \n--XX\r\n-\u{0}é\r
        --XX\r
        Content-Disposition: form-data; name="message"\r
        \r
        \r
        --XX--\r

        """
    private static let events: [Event] = [
        .field(name: "to", value: "alice, bob"), .file(name: "file", contentType: "image/png; a=b"),
        .bytes(Array("\r\n\r\n--X\r--XX \n--XX\r\n-\u{0}é".utf8)), .fileEnd, .field(name: "message", value: ""),
    ]

    /// Feeds a form in these pieces and puts the bytes of a file together.
    private func read(
        _ pieces: [[UInt8]], type: String = Self.type, limits: FormDataParser.Limits = Self.limits
    ) throws(FormDataError) -> [Event] {
        var parser = try FormDataParser(contentType: type, fileField: "file", limits: limits)
        var events: [Event] = []
        for piece in pieces {
            for event in try parser.read(piece) {
                if case .bytes(let more) = event, case .bytes(let bytes) = events.last {
                    #expect(!more.isEmpty)
                    events[events.count - 1] = .bytes(bytes + more)
                } else {
                    events.append(event)
                }
            }
        }
        try parser.finish()
        return events
    }

    private func error(
        _ form: String, type: String = Self.type, limits: FormDataParser.Limits = Self.limits
    ) -> FormDataError? {
        var errors: Set<FormDataError?> = []
        let bytes = Array(form.utf8)
        for pieces in [[bytes], bytes.map { [$0] }] {
            do throws(FormDataError) {
                _ = try read(pieces, type: type, limits: limits)
                errors.insert(nil)
            } catch {
                errors.insert(error)
            }
        }
        #expect(errors.count == 1, "whole and byte by byte are the same")
        return errors.first ?? nil
    }

    @Test func aFormIsReadTheSameHoweverItIsCut() throws {
        let bytes = Array(Self.form.utf8)
        #expect(try read([bytes]) == Self.events)
        #expect(try read(bytes.map { [$0] }) == Self.events)
        for first in 0...bytes.count {
            #expect(try read([Array(bytes[..<first]), Array(bytes[first...])]) == Self.events)
            for second in stride(from: first, through: min(first + 40, bytes.count), by: 3) {
                let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]].map { Array($0) }
                #expect(try read(pieces) == Self.events)
            }
        }
    }

    @Test func aFormThatIsCutOffAnywhereIsNoForm() throws {
        let bytes = Array(Self.form.utf8)
        // The line end after the last delimiter may be missing.
        for end in 0..<bytes.count where end != bytes.count - 2 {
            #expect(throws: FormDataError.cut, "cut at \(end)") { try read([Array(bytes[..<end])]) }
        }
        #expect(try read([Array(bytes.dropLast(2))]) == Self.events)
    }

    @Test func bytesOfAFileAreToldAsTheyCome() throws {
        var parser = try FormDataParser(contentType: Self.type, fileField: "file", limits: Self.limits)
        let head = "--XX\r\nContent-Disposition: form-data; name=file\r\n\r\n"
        #expect(try parser.read(Array(head.utf8)) == [.file(name: "file", contentType: nil)])
        #expect(try parser.read(Array("abc".utf8)) == [.bytes(Array("abc".utf8))])
        #expect(try parser.read(Array("d\r\n--X".utf8)) == [.bytes(Array("d".utf8))])
        #expect(try parser.read(Array("Y".utf8)) == [.bytes(Array("\r\n--XY".utf8))])
        #expect(try parser.read(Array("\r\n--XX--".utf8)) == [.fileEnd])
        try parser.finish()
    }

    @Test(arguments: [
        nil, "", "multipart/form-data", "multipart/mixed; boundary=XX", "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=a; boundary=b",
        "multipart/form-data; boundary=\"a \"", "multipart/form-data; boundary=é",
        "multipart/form-data; boundary=" + String(repeating: "a", count: 71),
    ])
    func aBoundaryIsNeeded(type: String?) {
        #expect(throws: FormDataError.noBoundary) {
            try FormDataParser(contentType: type, fileField: "file", limits: Self.limits)
        }
    }

    @Test(arguments: [
        "multipart/form-data; boundary=\"XX\"", "Multipart/Form-Data; charset=utf-8; BOUNDARY = XX",
    ])
    func theBoundaryMayBeQuotedAmongOthers(type: String) throws {
        #expect(try read([Array(Self.form.utf8)], type: type) == Self.events)
    }

    @Test func theRefusalsSayWhatIsAccepted() {
        #expect(
            FormDataError.malformed(.transferEncoding).description
                == "The form is malformed: a part has a Content-Transfer-Encoding other than 7bit, 8bit and binary.")
        #expect(
            FormDataError.malformed(.headerLine).description
                == "The form is malformed: a line before the content of a part is not a header field that ends in CR LF."
        )
    }

    private static let head = "--XX\r\nContent-Disposition: form-data; name=a\r\n"

    @Test(
        arguments: [
            ("preamble\r\n--XX--\r\n", .noDelimiter), ("\r\n--XX--\r\n", .noDelimiter), ("--YY--", .noDelimiter),
            ("--XX--\r\n\r\n", .epilogue), ("--XX--epilogue", .epilogue), ("--XX--\n", .epilogue),
            ("--XX \r\n", .delimiterLine), ("--XX\n\n", .delimiterLine), ("--XX-\r\n", .delimiterLine),
            (head + "\r\nv\r\n--XXX\r\n", .delimiterLine), (head + "\r\nv\r\n--XX\t\r\n", .delimiterLine),
            ("--XX\r\n\r\nv\r\n--XX--", .noName), ("--XX\r\nContent-Type: text/plain\r\n\r\nv\r\n--XX--", .noName),
            ("--XX\r\nContent-Disposition: inline; name=a\r\n\r\nv\r\n--XX--", .noName),
            ("--XX\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nv\r\n--XX--", .noName),
            ("--XX\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nv\r\n--XX--", .noName),
            (head + "Content-Disposition: form-data; name=b\r\n\r\nv\r\n--XX--", .noName),
            (head + " folded\r\n\r\nv\r\n--XX--", .headerLine), (head + "no colon\r\n\r\nv\r\n--XX--", .headerLine),
            (head + "X :1\r\n\r\nv\r\n--XX--", .headerLine), (head + ":1\r\n\r\nv\r\n--XX--", .headerLine),
            (head + "X: a\rb\r\n\r\nv\r\n--XX--", .headerLine), (head + "X: a\u{0}\r\n\r\nv\r\n--XX--", .headerLine),
            (head + "X: a\n\r\nv\r\n--XX--", .headerLine), (head + "\nv\r\n--XX--", .headerLine),
            (head + "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\nv\r\n--XX--", .contentType),
            (head + "Content-Transfer-Encoding: base64\r\n\r\nv\r\n--XX--", .transferEncoding),
        ] as [(String, FormDataError.Fault)])
    func violationsOfTheRulesAreRefused(form: String, fault: FormDataError.Fault) {
        #expect(error(form) == .malformed(fault))
    }

    @Test func aFieldIsUTF8() {
        let bytes = Array((Self.head + "\r\n").utf8) + [0xFF] + Array("\r\n--XX--".utf8)
        #expect(throws: FormDataError.malformed(.fieldText)) { try read([bytes]) }
        let name = Array("--XX\r\nContent-Disposition: form-data; name=".utf8) + [0xFF] + Array("\r\n\r\n".utf8)
        #expect(throws: FormDataError.malformed(.headerLine)) { try read([name]) }
    }

    @Test func everySizeHasALimit() throws {
        let limits = FormDataParser.Limits(parts: 2, headerBytes: 48, fieldBytes: 3, fileBytes: 5)
        let file = "--XX\r\nContent-Disposition: form-data; name=file\r\n\r\n"
        #expect(error(Self.head + "\r\n123\r\n" + file + "12345\r\n--XX--", limits: limits) == nil)
        #expect(error(Self.head + "\r\n1234\r\n--XX--", limits: limits) == .fieldTooLong(3))
        #expect(error(file + "123456\r\n--XX--", limits: limits) == .fileTooLarge(5))
        #expect(error(file + String(repeating: "x", count: 1000), limits: limits) == .fileTooLarge(5))
        #expect(error(Self.head + "Y: 12\r\n\r\n1\r\n--XX--", limits: limits) == .headersTooLarge(48))
        #expect(error("--XX\r\n" + String(repeating: "x", count: 1000), limits: limits) == .headersTooLarge(48))
        #expect(error("--XX\r\n" + String(repeating: "x", count: 48) + "\n", limits: limits) == .headersTooLarge(48))
        let three = String(repeating: Self.head + "\r\n1\r\n", count: 3) + "--XX--"
        #expect(error(three, limits: limits) == .tooManyParts(2))
    }

    @Test func aFormWithoutPartsIsEmpty() {
        #expect(error("--XX--") == nil)
        #expect(error("") == .cut)
    }

    @Test func aDelimiterOfRepeatedBytesIsFoundWhereItFirstStands() throws {
        let type = "multipart/form-data; boundary=----"
        let form = "------\r\nContent-Disposition: form-data; name=file\r\n\r\n---\r\n-\r\n\r\n--------\r\n"
        let bytes = Array(form.utf8)
        for cut in 0...bytes.count {
            let events = try read([Array(bytes[..<cut]), Array(bytes[cut...])], type: type)
            #expect(events.dropFirst().first == .bytes(Array("---\r\n-\r\n".utf8)))
        }
    }
}
