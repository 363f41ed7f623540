/// The format of a template's body. The format determines which parts of the body are values, and how values are
/// escaped.
public enum TemplateFormat: Hashable, Sendable {
    /// Every string except names of members is a value.
    case json
    /// The value of every attribute, and the text of every element that contains only text, is a value.
    case xml
    /// The whole body is one value.
    case text

    /// Determines the format of a body if the platform does not prescribe a format, as for `wns/raw`. The format is XML
    /// if the body begins with `<`, JSON if the body is a JSON object or array, and otherwise text.
    public init(of body: String) {
        let first = body.utf8.first { !$0.isXMLSpace }
        switch first {
        case UInt8(ascii: "<"): self = .xml
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isJSON = (try? JSON(parsing: Array(body.utf8), maximumDepth: Template.depthLimit)) != nil
            self = isJSON ? .json : .text
        default: self = .text
        }
    }
}

extension TemplateFormat {
    /// Appends a text as a value of the body. The text is escaped so that a parser of the format reads exactly the same
    /// text.
    public func appendValue(_ text: [UInt8], to output: inout [UInt8]) {
        let target: TemplateTarget =
            switch self {
            case .json: .jsonString
            case .xml: .xmlText
            case .text: .plain
            }
        target.append(text[...], to: &output)
    }
}
