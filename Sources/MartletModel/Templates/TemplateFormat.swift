/// How a template's body is written, which says where its values are and how what replaces them is escaped.
public enum TemplateFormat: Hashable, Sendable {
    /// Every string that is not a member's name is a value.
    case json
    /// Every attribute's value, and the text of every element that holds nothing else, is a value.
    case xml
    /// The whole body is one value.
    case text

    /// The format of a body whose platform leaves it open, as `wns/raw` does: XML where it begins with `<`, JSON where
    /// it is a JSON object or array, and otherwise text.
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
