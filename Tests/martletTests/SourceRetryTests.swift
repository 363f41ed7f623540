import MartletHTTP
import MartletModel
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
}
