import FuzzDriver
import MartletModel

/// Input: a tag expression. Checks that a parsed expression, written as text, is parsed to the same expression.
@main
struct FuzzTagExpression {
    static func main() {
        fuzz { bytes, count in
            let text = String(input: bytes, count)
            guard let expression = try? TagExpression(text) else { return 0 }
            let limits = TagExpression.Limits(length: 65_536)
            guard let again = try? TagExpression(expression.description, limits: limits) else {
                preconditionFailure("what was written is no expression")
            }
            precondition(again == expression, "an expression reads as it was written")
            return 0
        }
    }
}
