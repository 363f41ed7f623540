import MartletModel
import Testing

@testable import martlet

struct SendCommandTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func invocation(_ words: String...) throws -> Invocation {
        try Invocation(SendCommand.command, words: ["demo"] + words) { _ in nil }
    }

    @Test func timesAreTakenWithAndWithoutAZone() throws {
        let later = (now + .seconds(3600)).iso8601
        for text in [later, String(later.dropLast()), later.dropLast() + "+00:00"] {
            #expect(try invocation("--at", text).start(now: now) == now + .seconds(3600))
            #expect(try invocation("--expires", text).expiry() == later)
        }
        #expect(try invocation("--expires", "PT90M").expiry() == "PT90M")
        #expect(try invocation().start(now: now) == nil)
        #expect(try invocation().expiry() == nil)
        for option in ["--at", "--expires"] {
            let error = #expect(throws: UsageError.self) {
                let invocation = try invocation(option, "tomorrow")
                _ = try (invocation.start(now: now), invocation.expiry())
            }
            #expect(error?.description.hasPrefix("\(option) must be a time such as") == true)
        }
    }

    @Test func aTimeThatIsPastIsRefusedBeyondAMinute() throws {
        #expect(try invocation("--at", (now + .seconds(-59)).iso8601).start(now: now) != nil)
        let past = (now + .seconds(-61)).iso8601
        let error = #expect(throws: UsageError.self) { try invocation("--at", past).start(now: now) }
        #expect(error?.description == "--at \(past) is in the past; leave it out to send now.")
    }

    @Test func aTestDoesNotGoToEverybody() async throws {
        let invocation = try invocation("--test", "--everybody", "--platform", "message", "--text", "x")
        let error = await #expect(throws: UsageError.self) { try await SendCommand.command.run(invocation) }
        #expect(error?.description.contains("hub's testers") == true)
    }

    @Test func aMessageWithoutWordsIsToldApartFromABody() throws {
        for (format, words) in [("message", "--text, --title"), ("apple", "--body is missing")] {
            let error = #expect(throws: UsageError.self) {
                try ComposedBody.body(try invocation("--platform", format), format: format)
            }
            #expect(error?.description.contains(words) == true, "\(format)")
        }
    }

    @Test func aScheduledSendIsNotWaitedFor() async throws {
        let invocation = try invocation("--at", now.iso8601, "--wait", "--everybody")
        await #expect(throws: UsageError.self) { try await SendCommand.command.run(invocation) }
    }

    @Test(
        "Who waits for a canary that holds is told so, until when, and what ends it",
        arguments: [
            (
                #"{"control":"holding","succeeded":1000}"#,
                "The canary holds: 1,000 of its sample got it; the rest waits. 'martlet resume demo 7' continues it, "
                    + "'martlet cancel demo 7' ends it."
            ),
            (
                #"{"control":"holding","succeeded":7,"failed":2,"retrying":1,"goesOnAt":"2026-11-25T12:00:00.000Z"}"#,
                "The canary holds: 7 of its sample got it, 2 failed, 1 is tried again; the rest continues at "
                    + "2026-11-25T12:00:00.000Z. 'martlet resume demo 7' continues it, 'martlet cancel demo 7' ends it."
            ),
            (#"{"control":"running","succeeded":7}"#, nil), (#"{"control":"paused","succeeded":7}"#, nil),
        ])
    func holding(status: String, sentence: String?) throws {
        let progress = SendProgress(try JSON(parsing: Array(status.utf8)))
        #expect(progress.holding(of: "demo", "7") == sentence)
    }

    @Test func outcomesOfAllPlatformsAreCountedTogether() {
        func outcome(_ name: String, _ count: Int) -> String {
            "<Outcome><Name>\(name)</Name><Count>\(count)</Count></Outcome>"
        }
        let details = NotificationDetails(
            xml: "<State>Completed</State>" + outcome("Success", 3) + outcome("WrongToken", 1) + outcome("Success", 4))
        #expect(details.outcomes.map(\.name) == ["Success", "WrongToken"])
        #expect(details.outcomes.map(\.count) == [7, 1])
    }

    @Test(
        "Who waits is told how far it is, and fails unless everybody got it",
        arguments: [
            (
                #"{"state":"Processing","control":"running","targeted":9,"succeeded":7,"failed":1,"retrying":1}"#,
                false, "1 is tried again, Ctrl-C leaves it running"
            ),
            (
                #"{"state":"Processing","control":"halted","targeted":null,"failed":1}"#, false,
                "it is halted, Ctrl-C leaves it running"
            ),
            (#"{"state":"Completed","succeeded":9,"skipped":1}"#, true, nil),
            (
                #"{"state":"Completed","succeeded":7,"failed":2}"#, true,
                "2 of 9 failed: 'martlet dead-letters' and 'martlet why' say why."
            ),
            (
                #"{"state":"NoTargetFound"}"#, true,
                "No device got it: the audience is empty. 'martlet audience' counts devices."
            ),
            (
                #"{"state":"Canceled","succeeded":3,"suppressed":2}"#, true,
                "It was canceled before every device was reached."
            ),
        ])
    func progress(status: String, isOver: Bool, text: String?) throws {
        let progress = SendProgress(try JSON(parsing: Array(status.utf8)))
        #expect(progress.isOver == isOver)
        #expect((isOver ? progress.failure : progress.notes.joined(separator: ", ")) == text)
    }
}
