/// The result of rendering a template for one notification.
public struct RenderedTemplate: Hashable, Sendable {
    public var body: [UInt8]
    /// The headers in the template's order; values have no control characters and no white space at their ends.
    public var headers: [Template.Header]
    /// The options by their names in the template; values as in headers.
    public var options: [String: String]

    public init(body: [UInt8], headers: [Template.Header] = [], options: [String: String] = [:]) {
        self.body = body
        self.headers = headers
        self.options = options
    }

    /// The most bytes of body and values together, many times what any push service accepts.
    public static let sizeLimit = 65_536
}
