/// A template that a device registers: a body with expressions that each template notification fills in
/// (NotificationHubs.md, section 11).
///
/// A plain value, not checked: `CompiledTemplate` checks it, including every limit defined here.
public struct Template: Hashable, Sendable {
    /// A header for the push service, whose value may be an expression.
    public struct Header: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name, at most `nameLimit` characters; nil if there is none.
    public var name: String?
    /// The body: JSON, XML or plain text, depending on the platform and the headers; at most `bodyLimit` bytes.
    public var body: String
    /// The headers in the given order.
    public var headers: [Header]
    /// Further texts that the platform supports, by the name of their XML element, such as `Expiry`; each may be an
    /// expression.
    public var options: [String: String]

    public init(name: String? = nil, body: String, headers: [Header] = [], options: [String: String] = [:]) {
        self.name = name
        self.body = body
        self.headers = headers
        self.options = options
    }

    /// The most characters (Unicode scalars) of a name.
    public static let nameLimit = 200
    /// The most bytes of a body.
    public static let bodyLimit = 65_536
    /// The most headers, and the most options.
    public static let fieldLimit = 32
    /// The most bytes of a header's or an option's name.
    public static let fieldNameLimit = 128
    /// The most bytes of a header's or an option's value.
    public static let fieldValueLimit = 4096
    /// The most references to properties in body, headers and options, counting repetitions.
    public static let referenceLimit = 512
    /// The deepest nesting of arrays and objects, or of elements.
    public static let depthLimit = 64
}
