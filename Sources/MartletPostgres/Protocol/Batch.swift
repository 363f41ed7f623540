/// Statements that are sent together, without waiting for the answer to each. If a statement fails, the statements
/// after it do not run.
struct Batch: Sendable {
    struct Call: Sendable {
        var statement: Statement
        var parameters: Parameters
    }

    private(set) var calls: [Call] = []

    init() {}

    init(_ statement: Statement, _ fill: (inout Parameters) -> Void = { _ in }) {
        add(statement, fill)
    }

    mutating func add(_ statement: Statement, _ fill: (inout Parameters) -> Void = { _ in }) {
        var parameters = Parameters()
        fill(&parameters)
        precondition(parameters.spans.count == statement.types.count, "A parameter is missing: \(statement.sql)")
        calls.append(Call(statement: statement, parameters: parameters))
    }

    mutating func add(_ call: Call) {
        calls.append(call)
    }

    mutating func append(_ other: Batch) {
        calls += other.calls
    }
}
