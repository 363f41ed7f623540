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

    init(_ status: JSON) {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        state = status["state"]?.string ?? ""
        control = status["control"]?.string ?? ""
        targeted = status["targeted"]?.integer
        (succeeded, failed, retrying) = (number("succeeded"), number("failed"), number("retrying"))
        done = succeeded + failed + number("suppressed") + number("skipped")
    }

    var isOver: Bool { ["Completed", "NoTargetFound", "Abandoned", "Canceled"].contains(state) }

    /// Additional information for people who wait.
    var notes: [String] {
        var notes: [String] = []
        if retrying > 0 { notes.append("\(retrying.grouped) \(retrying == 1 ? "is" : "are") tried again") }
        if control != "running" { notes.append("it is \(control)") }
        return notes + ["Ctrl-C leaves it running"]
    }

    /// The reason why some devices did not get the notification; nil if all got it.
    var failure: String? {
        if failed > 0 {
            return "\(failed) of \(succeeded + failed) failed: 'martlet dead-letters' and 'martlet why' say why."
        }
        if succeeded == 0 { return "Nobody got it: no device is in the audience. 'martlet audience' counts devices." }
        return state == "Completed" ? nil : "It was \(state.lowercased()) before everybody had it."
    }
}
