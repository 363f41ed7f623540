/// The result of rendering a template for one notification.
public struct RenderedTemplate: Hashable, Sendable {
    public var body: [UInt8]
    /// The headers in the template's order. The values have no control characters and no leading or trailing white
    /// space.
    public var headers: [Template.Header]
    /// The options, keyed by their names in the template. Like header values, the values have no control characters and
    /// no leading or trailing white space.
    public var options: [String: String]

    public init(body: [UInt8], headers: [Template.Header] = [], options: [String: String] = [:]) {
        self.body = body
        self.headers = headers
        self.options = options
    }

    /// The maximum size of the body and all values together, in bytes. This is more than ten times the size that any
    /// push service accepts.
    public static let sizeLimit = 65_536
}
