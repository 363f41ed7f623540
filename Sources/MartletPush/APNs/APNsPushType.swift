/// The kind of a push, as the field `apns-push-type` names it (PushServices.md, section 1.5).
public enum APNsPushType: String, Sendable, CaseIterable {
    case alert
    case background
    case voip
    case complication
    case fileprovider
    case mdm
    case location
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// What the topic has after the app's bundle id.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Whether a topic has the suffix of this kind, and not that of another.
    func fits(_ topic: String) -> Bool {
        topic.hasSuffix(topicSuffix) && (APNsPushType(suffixOf: topic) ?? self) == self
    }

    /// Whether pushes of this kind go to the tokens that an app gets for its alerts. Each other has tokens of its own.
    var usesTheAppsToken: Bool { self == .alert || self == .background }

    /// The largest payload in bytes.
    public var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Whether the service takes pushes of this kind on a connection that a certificate proves.
    public var allowsCertificate: Bool {
        switch self {
        case .location, .liveactivity, .widgets, .controls: false
        default: true
        }
    }

    /// Whether the service takes pushes of this kind with a provider token.
    public var allowsToken: Bool { self != .mdm }

    /// The priority of a push that states none.
    public var defaultPriority: APNsPriority { self == .background ? .powerAware : .immediate }

    /// The kind whose suffix a topic has; nil for a topic without one of them.
    public init?(suffixOf topic: String) {
        let found = Self.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
        guard let found else { return nil }
        self = found
    }
}

/// How urgent a push is, as the field `apns-priority` says it.
public enum APNsPriority: Int, Sendable {
    /// Never wakes the device.
    case passive = 1
    /// When the device's power allows.
    case powerAware = 5
    case immediate = 10
}
