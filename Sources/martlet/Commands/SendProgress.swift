import MartletModel

/// How far a notification is, read from its status.
struct SendProgress: Equatable {
    private let state: String
    private let control: String
    private let targeted: Int64?
    private let succeeded: Int64
    private let failed: Int64
    private let retrying: Int64
    private let done: Int64

    init(_ status: JSON) {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        state = status["state"]?.string ?? ""
        control = status["control"]?.string ?? ""
        targeted = status["targeted"]?.integer
        (succeeded, failed, retrying) = (number("succeeded"), number("failed"), number("retrying"))
        done = succeeded + failed + number("suppressed") + number("skipped")
    }

    var isOver: Bool { ["Completed", "NoTargetFound", "Abandoned", "Canceled"].contains(state) }

    /// For people who wait.
    var sentence: String {
        let all = targeted.map(String.init) ?? "a number not known yet"
        var parts = ["\(done) of \(all) \(done == 1 ? "is" : "are") done"]
        if retrying > 0 { parts.append("\(retrying) \(retrying == 1 ? "is" : "are") tried again") }
        if control != "running" { parts.append("it is \(control)") }
        return parts.joined(separator: ", ") + "; Ctrl-C leaves it running."
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
