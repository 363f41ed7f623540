import MartletModel
import MartletPush

/// The members of a rule in JSON. `FaultRule` and `Fault` take the members that they know, one after another.
///
/// A member that was taken is removed. At the end, `finish` refuses the rule if a member is left, because that member
/// is unknown.
struct FaultMembers {
    private var rest: [String: JSON]

    init(_ json: JSON) throws(SimulatorError) {
        guard case .object(let members) = json else { throw SimulatorError("A fault must be a JSON object.") }
        rest = members
    }

    mutating func text(_ name: String) throws(SimulatorError) -> String? {
        guard let member = rest.removeValue(forKey: name) else { return nil }
        guard let text = member.string, !text.isEmpty else { throw SimulatorError("\"\(name)\" must be a text.") }
        return text
    }

    mutating func choice(_ name: String, _ choices: [String]) throws(SimulatorError) -> String? {
        guard let text = try text(name) else { return nil }
        guard choices.contains(text) else {
            throw SimulatorError("\"\(name)\" must be one of these: \(choices.joined(separator: ", ")).")
        }
        return text
    }

    mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws(SimulatorError) -> Int? {
        guard let member = rest.removeValue(forKey: name) else { return nil }
        guard let number = member.integer.map(Int.init), range.contains(number) else {
            throw SimulatorError(
                "\"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Takes a member that is a whole number or a list of whole numbers.
    mutating func integers(_ name: String, _ range: ClosedRange<Int>, limit: Int) throws(SimulatorError) -> [Int]? {
        guard let member = rest.removeValue(forKey: name) else { return nil }
        let numbers = (member.array ?? [member]).map { $0.integer.map(Int.init) ?? -1 }
        guard (1...limit).contains(numbers.count), numbers.allSatisfy(range.contains) else {
            throw SimulatorError(
                "\"\(name)\" must be 1 to \(limit) whole numbers from \(range.lowerBound) to \(range.upperBound).")
        }
        return numbers
    }

    mutating func fraction(_ name: String) throws(SimulatorError) -> Double? {
        guard let member = rest.removeValue(forKey: name) else { return nil }
        switch member {
        case .double(let number) where (0...1).contains(number): return number
        case .integer(let number) where (0...1).contains(number): return Double(number)
        default: throw SimulatorError("\"\(name)\" must be a number from 0 to 1.")
        }
    }

    mutating func flag(_ name: String) throws(SimulatorError) -> Bool {
        guard let member = rest.removeValue(forKey: name) else { return false }
        guard let value = member.bool else { throw SimulatorError("\"\(name)\" must be true or false.") }
        return value
    }

    /// Takes a member that is a duration in milliseconds, at most a day.
    mutating func milliseconds(_ name: String) throws(SimulatorError) -> Duration? {
        try integer(name, 0...86_400_000).map { .milliseconds($0) }
    }

    /// Checks that every member was taken.
    /// - Throws: `SimulatorError` that names a member that was not taken.
    func finish() throws(SimulatorError) {
        guard let name = rest.keys.min() else { return }
        throw SimulatorError("\"\(name)\" is nothing that this fault can be told.")
    }
}
