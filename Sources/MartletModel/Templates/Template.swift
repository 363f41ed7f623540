/// A form of notification that a device registers: a body with expressions that each template notification fills in
/// (NotificationHubs.md, section 11).
///
/// A plain value: whether it is a good template is found out by `CompiledTemplate`, which checks every limit named here.
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

    /// At most `nameLimit` characters; nil for one without a name.
    public var name: String?
    /// JSON, XML or plain text, as the platform and its headers say; at most `bodyLimit` bytes.
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
    /// The most properties that body, headers and options name, each as often as it is named.
    public static let referenceLimit = 512
    /// The most levels of arrays and objects, or of elements, in each other.
    public static let depthLimit = 64
}
