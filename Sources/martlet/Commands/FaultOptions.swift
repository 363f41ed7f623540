import MartletModel
import MartletSimulator

/// The options that define faults of the simulated services.
struct FaultOptions {
    private let faults: String
    private let script: String
    private let seed: String

    /// - Parameter prefix: The text before the options' names, such as `simulator-` in `martlet serve`.
    init(prefix: String = "") {
        faults = prefix + "faults"
        script = prefix + "fault-script"
        seed = prefix + "fault-seed"
    }

    var all: [Option] {
        [
            Option(faults, "FAULTS", "The faults, such as 'slow delay=2000 every=10; reset next=1'."),
            Option(script, "FILE", "The faults, as JSON: {\"seed\": 1, \"faults\": [{\"fault\": \"slow\"}]}."),
            Option(seed, "N", "The seed of the random numbers, for --\(faults).", default: "0"),
        ]
    }

    func plan(_ invocation: Invocation) throws -> FaultPlan {
        let now = Simulator.timeOfDay()
        let start = try invocation.required(seed, as: "a whole number, 0 or more") { UInt64($0) }
        let source = try invocation[script].map { try JSON(parsing: Array(try TextFile.readText($0).utf8)) }
        do {
            var plan = try source.map { try FaultPlan(script: $0, at: now) } ?? FaultPlan(seed: start)
            for text in (invocation[faults] ?? "").split(separator: ";") where !text.allSatisfy(\.isWhitespace) {
                try plan.add(FaultRule(text: text), at: now)
            }
            return plan
        } catch {
            throw UsageError(description: "\(error)", command: invocation.command)
        }
    }
}
