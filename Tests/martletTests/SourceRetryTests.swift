import MartletHTTP
import MartletModel
import MartletServer
import Testing

@testable import martlet

@Suite("A migration and its source")
struct SourceRetryTests {
    @Test("Retry-After of a source that throttles is obeyed, for as long as it throttles")
    func throttled() {
        #expect(SourceRetry.wait(status: 429, retryAfter: "7", attempt: 1) == 7)
        #expect(SourceRetry.wait(status: 503, retryAfter: "7", attempt: 1000) == 7)
        #expect(SourceRetry.wait(status: 429, retryAfter: "999999", attempt: 1) == 3600)
        #expect(SourceRetry.wait(status: 429, retryAfter: nil, attempt: 3) == 4)
    }

    @Test("Without an answer it is tried again, later each time, and not for ever")
    func noAnswer() {
        #expect(
            (1...8).map { SourceRetry.wait(status: nil, retryAfter: nil, attempt: $0) } == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(SourceRetry.wait(status: 500, retryAfter: nil, attempt: SourceRetry.attemptLimit) == nil)
    }

    @Test(
        "What the source says is final, if it is no failure of the moment", arguments: [200, 400, 401, 403, 404, 410])
    func final(status: Int) {
        #expect(SourceRetry.wait(status: status, retryAfter: "5", attempt: 1) == nil)
    }

    @Test("An untrusted certificate is final at once, a broken connection is not")
    func untrusted() {
        #expect(!SourceRetry.mayPass(.insecure))
        #expect(!SourceRetry.mayPass(.misbehaved), "too long an answer does not become shorter")
        for failure in [TransportError.Kind.unreachable, .disconnected, .timedOut] {
            #expect(SourceRetry.mayPass(failure))
        }
    }

    @Test("A report adds up, goes through JSON and names what was refused")
    func report() {
        let part: JSON = ["counts": ["apns": ["copied": 2, "refused": 1]], "reasons": ["It has no DeviceToken.": 1]]
        var report = MigrationReport()
        report.add(part)
        report.add(part)
        #expect(report.total("copied") == 4)
        #expect(MigrationReport(report.json) == report)
        #expect(
            report.lines(["copied", "kept", "refused"]) == [
                "apns: 4 copied, 0 kept, 2 refused", "2 times: It has no DeviceToken.",
            ])
    }

    @Test("Installations that are too large are counted as refused, and the first of them are named")
    func tooLarge() {
        var report = MigrationReport()
        for number in 0..<150 { report.refuse(tooLarge: "i\(number)", of: "apns") }
        #expect(report.total("refused") == 150)
        #expect(report.reasons.count == 101)
        #expect(report.reasons["Installation 'i7' is larger at the source than 131072 bytes."] == 1)
        #expect(report.reasons["Another installation is larger at the source than 131072 bytes."] == 50)
        var resumed = MigrationReport(report.json)
        resumed.refuse(tooLarge: "x", of: "apns")
        #expect(resumed.reasons.count == 101)
    }

    @Test("Installations are sent in groups of at most a mebibyte")
    func batches() {
        var batch = InstallationBatch()
        let document = Array(#"{"x":"\#(String(repeating: "a", count: 131_064))"}"#.utf8)
        var groups: [Int] = []
        for number in 0..<20 {
            if let full = batch.add(["id": .string("\(number)")], document) { groups.append(full.count) }
        }
        groups.append(batch.take()?.count ?? 0)
        #expect(groups == [8, 8, 4])
        #expect(batch.take() == nil)
    }

    @Test("A listing that repeats a continuation token ends the command", arguments: [["a", "a"], ["a", "b", "a"]])
    func circle(tokens: [String]) throws {
        var continuations = SourceContinuations()
        for token in tokens.dropLast() { try continuations.follow(token) }
        #expect(throws: ServerError.self) { try continuations.follow(tokens.last) }
    }

    @Test("A listing of empty pages ends the command, and an empty page now and then does not")
    func emptyPages() throws {
        var continuations = SourceContinuations()
        for page in 0..<3000 { try continuations.follow("\(page)", after: page % 1000 == 0 ? 1 : 0) }
        try continuations.follow("full", after: 7)
        for page in 0..<SourceContinuations.emptyLimit { try continuations.follow("empty \(page)", after: 0) }
        #expect(throws: ServerError.self) { try continuations.follow("next", after: 0) }
        #expect(throws: Never.self) { try continuations.follow(nil, after: 0) }
    }

    @Test("A listing begins again when its token is forgotten, and not for ever")
    func restarts() throws {
        var continuations = SourceContinuations()
        for _ in 0..<SourceContinuations.restartLimit {
            try continuations.follow("a")
            try continuations.restart()
        }
        #expect(throws: ServerError.self) { try continuations.restart() }
    }

    @Test("A refusal without a sentence is described by its status")
    func answers() throws {
        func sentence(_ response: HTTPResponse) -> String? {
            do {
                _ = try AdministrationAnswer.document(of: response)
                return nil
            } catch { return error.description }
        }
        let plain = Array("Content Too Large".utf8)
        #expect(
            sentence(HTTPResponse(.contentTooLarge, body: .bytes(plain)))
                == "The server answered 413: the request is larger than it takes.")
        #expect(sentence(HTTPResponse(500)) == "The server answered 500.")
        #expect(sentence(HTTPResponse(500, body: .bytes(plain))) == "The server answered 500.")
        #expect(
            sentence(HTTPResponse(.ok, body: .bytes(plain)))
                == "The server answered 200, but not with JSON: is it a server of another version?")
        #expect(sentence(HTTPResponse(409, body: .bytes(Array(#"{"error":"No."}"#.utf8)))) == "No.")
        #expect(try AdministrationAnswer.document(of: HTTPResponse(.noContent)) == .null)
    }
}
