/// Finds the expressions in a template's body, for each format.
enum TemplateBody {
    /// Returns the strings of a JSON body that are expressions. Member names are never expressions.
    static func expressions(inJSON bytes: [UInt8]) throws(TemplateBodyError) -> [TemplateValue] {
        do throws(JSONError) {
            _ = try JSON(parsing: bytes, maximumDepth: Template.depthLimit)
        } catch {
            throw TemplateBodyError(offset: error.offset, reason: "is not valid JSON: \(error.reason)")
        }
        var values: [TemplateValue] = []
        var tokens = JSONTokens(bytes)
        var pending: Range<Int>?
        while let token = tokens.next() {
            // In valid JSON, a string before a colon is a member name; every other string is a value.
            if let range = pending.take(), token != .punctuation(UInt8(ascii: ":")) {
                values += expression(at: range, of: bytes)
            }
            if case .string(let range) = token { pending = range }
        }
        if let pending { values += expression(at: pending, of: bytes) }
        return values
    }

    private static func expression(at range: Range<Int>, of bytes: [UInt8]) -> [TemplateValue] {
        let first = bytes[range.lowerBound + 1]
        guard TemplateExpression.isBegun(by: first) || first == UInt8(ascii: "\\") else { return [] }
        let text = Array(JSONTokens.text(of: bytes[range]).utf8)
        guard TemplateExpression.isBegun(by: text.first) else { return [] }
        return [TemplateValue(range: range.lowerBound + 1..<range.upperBound - 1, text: text, target: .jsonString)]
    }
}
