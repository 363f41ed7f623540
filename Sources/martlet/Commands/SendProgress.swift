import MartletModel

/// The progress of a notification, read from its status.
struct SendProgress {
    private let state: String
    private let control: String
    /// The number of targeted devices; nil if it is not known yet.
    let targeted: Int64?
    private let succeeded: Int64
    private let failed: Int64
    private let retrying: Int64
    let done: Int64
    /// The time at which a canary that holds continues by itself; nil if it does not continue by itself.
    private let goesOnAt: String?

    init(_ status: JSON) {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        state = status["state"]?.string ?? ""
        control = status["control"]?.string ?? "running"
        goesOnAt = status["goesOnAt"]?.string
        targeted = status["targeted"]?.integer
        (succeeded, failed, retrying) = (number("succeeded"), number("failed"), number("retrying"))
        done = succeeded + failed + number("suppressed") + number("skipped")
    }

    /// Returns a sentence about a canary that holds until it is resumed or its wait is over; nil if no canary holds.
    func holding(of hub: String, _ id: String) -> String? {
        guard control == "holding" else { return nil }
        let failures = failed > 0 ? ", \(failed.grouped) failed" : ""
        let again = retrying > 0 ? ", \(retrying.grouped) \(retrying == 1 ? "is" : "are") tried again" : ""
        let until = goesOnAt.map { "continues at \($0)" } ?? "waits"
        return "The canary holds: \(succeeded.grouped) of its sample got it\(failures)\(again); the rest \(until). "
            + "'martlet resume \(hub) \(id)' continues it, 'martlet cancel \(hub) \(id)' ends it."
    }

    var isOver: Bool { ["Completed", "NoTargetFound", "Abandoned", "Canceled"].contains(state) }

    /// The texts that follow the numbers in the line of progress.
    var notes: [String] {
        var notes: [String] = []
        if retrying > 0 { notes.append("\(retrying.grouped) \(retrying == 1 ? "is" : "are") tried again") }
        if control != "running" { notes.append("it is \(control)") }
        return notes + ["Ctrl-C leaves it running"]
    }

    /// The reason why some devices did not get the notification; nil if all devices got it.
    var failure: String? {
        if failed > 0 {
            return "\(failed) of \(succeeded + failed) failed: 'martlet dead-letters' and 'martlet why' say why."
        }
        if succeeded == 0 { return "No device got it: the audience is empty. 'martlet audience' counts devices." }
        return state == "Completed" ? nil : "It was \(state.lowercased()) before every device was reached."
    }
}
