/// The browser vendor whose push service is simulated. Each vendor's service answers in a form of its own.
public enum WebPushFlavour: String, Sendable, CaseIterable {
    case mozilla
    case safari
    case chromium
    case edge

    /// The beginning of the path of all endpoints of this vendor's simulated service.
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
