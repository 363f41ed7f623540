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

    @Test func aScheduledSendIsNotWaitedFor() async throws {
        let invocation = try invocation("--at", now.iso8601, "--wait", "--everybody")
        await #expect(throws: UsageError.self) { try await SendCommand.command.run(invocation) }
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
