/// The reason why the body of a template notification is invalid.
public enum TemplatePropertiesError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLarge
    case notJSON(JSONError)
    case notAnObject
    /// The property of this name is an array or an object.
    case nested(String)

    public var description: String {
        switch self {
        case .tooLarge:
            "The body of a template notification has at most \(TemplateProperties.sizeLimit) bytes."
        case .notJSON(let error):
            "The body of a template notification must be a JSON object of names and values. \(error) "
                + "Values must be JSON-escaped: a quotation mark in a value is written \\\" and a backslash \\\\."
        case .notAnObject:
            "The body of a template notification must be a JSON object, such as {\"title\":\"Hello\"}."
        case .nested(let name):
            "The body of a template notification must be flat: its property \(name.excerpt) is an array or an object, "
                + "where a string, a number or a boolean is needed."
        }
    }
}
