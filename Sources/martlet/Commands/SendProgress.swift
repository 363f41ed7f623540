import MartletModel

/// How far a notification is, read from its status.
struct SendProgress {
    private let state: String
    private let control: String
    /// nil where it is not known yet.
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

    /// What there is to say besides, to people who wait.
    var notes: [String] {
        var notes: [String] = []
        if retrying > 0 { notes.append("\(retrying.grouped) \(retrying == 1 ? "is" : "are") tried again") }
        if control != "running" { notes.append("it is \(control)") }
        return notes + ["Ctrl-C leaves it running"]
    }

    /// Why not everybody got it; nil where everybody did.
    var failure: String? {
        if failed > 0 {
            return "\(failed) of \(succeeded + failed) failed: 'martlet dead-letters' and 'martlet why' say why."
        }
        if succeeded == 0 { return "Nobody got it." }
        return state == "Completed" ? nil : "It was \(state.lowercased()) before everybody had it."
    }
}
