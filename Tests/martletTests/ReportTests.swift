import MartletModel
import Testing

@testable import martlet

/// What commands make of the server's answers.
struct ReportTests {
    private func json(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test func aHaltedRollOutSaysWhyAndHowToContinue() throws {
        let lines = ControlCommands.lines(
            of: try json(
                """
                {"notification":"n1","state":"Processing","control":"halted","controlledAt":"T","targeted":null,
                "rollout":{"spec":"over=PT9S; halt=5%/100","rate":3.3333333,"halt":{"percent":5.0,"answers":100}}}
                """), in: "demo")
        #expect(lines[0] == "Processing, halted since T")
        #expect(
            lines.contains(
                "It has halted itself, because more than 5 % of its pushes failed: 'martlet why' says why; 'martlet resume "
                    + "demo n1' continues it."))
        #expect(lines.contains("Roll-out: over=PT9S; halt=5%/100, 3.33 a second"))
    }

    @Test func aCanceledNotificationIsReportedOnce() throws {
        let status = #"{"state":"Canceled","control":"canceled","controlledAt":"T"}"#
        #expect(ControlCommands.lines(of: try json(status), in: "demo")[0] == "Canceled since T")
    }

    @Test func deadLettersSayWhatBecameOfTheHandleAndWhetherThereAreAny() throws {
        let some = try json(
            """
            {"notification":"n","state":"Completed","deadLetters":[{"at":"T","platform":"apns","installation":"i",
            "outcome":"BadChannel","reason":"R","token":"removed"}]}
            """)
        let row = "T  apns  i  BadChannel  R  handle removed"
        #expect(DeadLetterCommands.lines(of: some, isFirst: false) == [row])
        let headed = ["n  Completed", "WHEN  PLATFORM  DEVICE  OUTCOME  REASON AND HANDLE", row]
        #expect(DeadLetterCommands.lines(of: some, isFirst: true) == headed)
        let none = try json(#"{"notification":"n","state":"Completed","deadLetters":[]}"#)
        #expect(DeadLetterCommands.lines(of: none, isFirst: true) == ["n  Completed", "It has no dead letters."])
        let empty = try json(#"{"notifications":[]}"#)
        #expect(DeadLetterCommands.lines(of: empty, isFirst: true) == ["No notification of the hub has dead letters."])
    }

    @Test func aDryRunSaysWhenItStartsAndExpiresAndHowFastItGoes() throws {
        let run = try json(
            #"{"targeted":40,"startsAt":"S","expiresAt":"E","rollout":{"spec":"rate=3","rate":3.0,"seconds":13.333}}"#)
        #expect(
            DryRunReport(run).lines == [
                "Nothing was sent. A send would be 40 pushes.", "Starts: S", "Expires: E",
                "Roll-out: rate=3, 3 a second for 13.33 s",
            ])
    }
}
