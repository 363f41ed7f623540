/// Whose push service is simulated: each browser's maker has one, and they answer in forms of their own.
public enum WebPushFlavour: String, Sendable, CaseIterable {
    case mozilla
    case safari
    case chromium
    case edge

    /// What the path of an endpoint begins with.
    var pathPrefix: String {
        switch self {
        case .mozilla: "/wpush/v2/"
        case .safari: "/wpush/safari/"
        case .chromium: "/wp/"
        case .edge: "/w/?token="
        }
    }

    init?(path: some StringProtocol) {
        let found = Self.allCases.first { path.hasPrefix($0.pathPrefix) }
        guard let found else { return nil }
        self = found
    }
}
