/// A template that a device registers: a body with expressions. For each template notification, the notification's
/// values replace the expressions (NotificationHubs.md, section 11).
///
/// This type checks nothing: `CompiledTemplate` checks the template, including every limit defined here.
public struct Template: Hashable, Sendable {
    /// A header for the push service. Its value may be an expression.
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
    /// Further texts that the platform supports, keyed by the names of their XML elements, such as `Expiry`. Each may
    /// be an expression.
    public var options: [String: String]

    public init(name: String? = nil, body: String, headers: [Header] = [], options: [String: String] = [:]) {
        self.name = name
        self.body = body
        self.headers = headers
        self.options = options
    }

    /// The maximum length of a name, in Unicode scalars.
    public static let nameLimit = 200
    /// The maximum size of a body, in bytes.
    public static let bodyLimit = 65_536
    /// The maximum number of headers. The same maximum applies to the number of options.
    public static let fieldLimit = 32
    /// The maximum length of the name of a header or option, in bytes.
    public static let fieldNameLimit = 128
    /// The maximum length of the value of a header or option, in bytes.
    public static let fieldValueLimit = 4096
    /// The maximum number of references to properties in body, headers and options together, counting repetitions.
    public static let referenceLimit = 512
    /// The maximum nesting depth of arrays and objects in a JSON body, or of elements in an XML body.
    public static let depthLimit = 64
}
