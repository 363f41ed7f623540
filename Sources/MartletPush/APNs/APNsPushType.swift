/// The type of a push, as named in the field `apns-push-type` (PushServices.md, section 1.5).
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

    /// The suffix that follows the app's bundle id in a topic of this type.
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

    /// Returns whether a topic has the suffix of this type, and not the suffix of another type.
    func fits(_ topic: String) -> Bool {
        topic.hasSuffix(topicSuffix) && (APNsPushType(suffixOf: topic) ?? self) == self
    }

    /// Whether pushes of this type are sent to the same device token as the app's alerts.
    ///
    /// Each other type has device tokens of its own.
    var usesTheAppsToken: Bool { self == .alert || self == .background }

    /// The maximum size of the payload, in bytes.
    public var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Whether the service accepts pushes of this type on a connection that is authenticated by a certificate.
    public var allowsCertificate: Bool {
        switch self {
        case .location, .liveactivity, .widgets, .controls: false
        default: true
        }
    }

    /// Whether the service accepts pushes of this type from a sender that has a provider token.
    public var allowsToken: Bool { self != .mdm }

    /// The priority of a push of this type if the push states no priority.
    public var defaultPriority: APNsPriority { self == .background ? .powerAware : .immediate }

    /// Creates the type that a topic's suffix stands for; nil if the topic has none of the suffixes.
    public init?(suffixOf topic: String) {
        let found = Self.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
        guard let found else { return nil }
        self = found
    }
}

/// The urgency of a push, as stated in the field `apns-priority`.
public enum APNsPriority: Int, Sendable {
    /// The push never wakes the device.
    case passive = 1
    /// The push is delivered when the device's power state allows it.
    case powerAware = 5
    case immediate = 10
}
