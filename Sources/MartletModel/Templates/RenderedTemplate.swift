/// What a template gave for one notification.
public struct RenderedTemplate: Hashable, Sendable {
    public var body: [UInt8]
    /// In the template's order; values without control characters and without white space at their ends.
    public var headers: [Template.Header]
    /// By the names that the template has for them; values as in headers.
    public var options: [String: String]

    public init(body: [UInt8], headers: [Template.Header] = [], options: [String: String] = [:]) {
        self.body = body
        self.headers = headers
        self.options = options
    }

    /// The most bytes of body and values together, many times what any push service takes.
    public static let sizeLimit = 65_536
}
