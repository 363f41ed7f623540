import MartletHTTP
import MartletModel
import MartletNetwork
import Testing

@testable import MartletSimulator

/// What a client sees of faults that meet one request.
struct RequestFaultTests {
    private static let versions: [TransportSettings.Version] = [.http1, .http2]

    @Test(arguments: versions)
    func withoutFaultsEverythingIsTaken(version: TransportSettings.Version) async throws {
        try await withCourier { (run) async throws in
            #expect(await run.send(version: version).summary == "200 taken 5")
            #expect(await run.send(version: version, path: "/token").summary == "200 token")
            #expect(try await run.taken() == 1)
        }
    }

    @Test(arguments: versions)
    func aServiceSaysWhatIsWrongInItsOwnWords(version: TransportSettings.Version) async throws {
        try await withCourier("strike next=1; rateLimit retryAfter=30 next=1") { (run) async throws in
            #expect(await run.send(version: version).summary == "503 strike")
            let second = try await run.send(version: version).get()
            #expect(second.status == .tooManyRequests)
            #expect(second.fields["retry-after"] == "30")
            #expect(await run.send(version: version).summary == "200 taken 5")
            #expect(try await run.taken() == 1)
            #expect(try await run.count("faults.strike") == 1)
        }
    }

    @Test func retryAfterCanBeADate() async throws {
        try await withCourier("rateLimit retryAfter=30 form=date") { (run) async throws in
            let field = try await run.send().get().fields["retry-after"]
            #expect(field?.hasSuffix(" GMT") == true)
        }
    }

    @Test func aMessageCanBeDeliveredAndRefusedAllTheSame() async throws {
        try await withCourier("unavailable delivered=true") { (run) async throws in
            #expect(await run.send().summary == "503 unavailable")
            #expect(try await run.taken() == 1)
        }
    }

    @Test func aFaultOfTheTokenEndpointLeavesMessagesAlone() async throws {
        try await withCourier("html endpoint=token status=500") { (run) async throws in
            #expect(await run.send().summary == "200 taken 5")
            #expect(try await run.send(path: "/token").get().status == .internalServerError)
        }
    }

    @Test func anAnswerCanTakeItsTime() async throws {
        try await withCourier("slow delay=300") { (run) async throws in
            let clock = ContinuousClock()
            let time = try await clock.measure { _ = try await run.send().get() }
            #expect(time >= .milliseconds(300))
        }
    }

    @Test(arguments: versions)
    func aRequestCanGoWithoutAnAnswer(version: TransportSettings.Version) async throws {
        try await withCourier("unanswered handle=lost; unanswered stored=true handle=kept") { (run) async throws in
            #expect(await run.send("lost", version: version, patience: .milliseconds(300)).summary == "timedOut")
            #expect(try await run.taken("lost") == 0)
            // On a busy machine the first may not even have been sent in this time.
            repeat {
                #expect(await run.send("kept", version: version, patience: .milliseconds(300)).summary == "timedOut")
            } while try await run.taken("kept") == 0
        }
    }

    @Test(arguments: versions)
    func aConnectionCanBeResetAnywhere(version: TransportSettings.Version) async throws {
        for (stage, taken) in [("head", 0), ("body", 0), ("request", 0), ("stored", 1)] {
            try await withCourier("reset at=\(stage)") { (run) async throws in
                let result = await run.send(version: version, body: [UInt8](repeating: 1, count: 60_000))
                #expect(result.summary == "disconnected", "\(stage)")
                #expect(try await run.taken() == taken, "\(stage)")
                #expect(try await run.count("faults.reset") > 0)
            }
        }
    }

    @Test func aRequestIsReadWholeWhereAnotherOneIsToBeReset() async throws {
        try await withCourier("reset at=body handle=bob") { (run) async throws in
            let body = [UInt8](repeating: 1, count: 60_000)
            for version in Self.versions {
                #expect(await run.send(version: version, body: body).summary == "200 taken 60000")
            }
        }
    }

    @Test(arguments: versions)
    func somethingElseCanAnswer(version: TransportSettings.Version) async throws {
        try await withCourier("html handle=a; empty handle=b; redirect handle=c") { (run) async throws in
            let page = try await run.send("a", version: version).get()
            #expect(page.status.code == 502)
            #expect(page.fields["content-type"] == "text/html")
            #expect(await run.send("b", version: version).summary == "200 ")
            let elsewhere = try await run.send("c", version: version).get()
            #expect(elsewhere.status.code == 302)
            #expect(elsewhere.fields["location"] == "/elsewhere")
            for handle in ["a", "b", "c"] { #expect(try await run.taken(handle) == 0) }
        }
    }

    @Test(arguments: versions)
    func anAnswerCanBreakOff(version: TransportSettings.Version) async throws {
        try await withCourier("truncated next=1") { (run) async throws in
            let result = await run.send(version: version)
            #expect(["disconnected", "reset"].contains(result.summary))
            #expect(try await run.taken() == 1)
            #expect(await run.send(version: version).summary == "200 taken 5")
        }
    }

    @Test func anAnswerCanBeLongerThanItSays() async throws {
        try await withCourier("wrongLength next=1") { (run) async throws in
            // The surplus is no answer to the next request.
            #expect(await run.send(version: .http1).summary == "200 taken 5")
            #expect(await run.send(version: .http1, body: []).summary == "200 taken 0")
            #expect(try await run.taken() == 2)
        }
    }

    @Test func anAnswerCanBeShorterThanItSays() async throws {
        try await withCourier("wrongLength") { (run) async throws in
            #expect(await run.send(version: .http2).summary == "reset")
            #expect(try await run.taken() == 1)
        }
    }

    @Test func handlesAskForFaultsThemselves() async throws {
        try await withCourier { (run) async throws in
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await run.send("x~throttle2").get().status.code) }
            #expect(statuses == [429, 429, 200])
            #expect(await run.send("x~unregistered").summary == "410 unregistered")
            #expect(await run.send("x~reset").summary == "disconnected")
            #expect(await run.send("x~slow10").summary == "200 taken 5")
        }
    }
}
