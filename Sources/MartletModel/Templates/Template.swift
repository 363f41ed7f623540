/// A form of notification that a device registers: a body with expressions that each template notification fills in
/// (wire document, section 11).
public struct Template: Hashable, Sendable {
    /// A header of the push service, whose value may be an expression.
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// nil for one without a name.
    public var name: String?
    public var body: String
    /// In the order given.
    public var headers: [Header]
    /// Further texts that the platform knows, by the name of their XML element, such as `Expiry`; each may be an
    /// expression.
    public var options: [String: String]

    public init(name: String? = nil, body: String, headers: [Header] = [], options: [String: String] = [:]) {
        self.name = name
        self.body = body
        self.headers = headers
        self.options = options
    }
}

/// What a template's body is, and so where its expressions stand and how values are escaped.
public enum TemplateFormat: Hashable, Sendable {
    case json
    case xml
    /// The whole body is one value.
    case text
}
