import MartletCore

/// The position of a registration in the order of the audience: by channel, then by registration.
struct AudiencePosition: Comparable {
    var channel: Int64
    /// The sequence number of the registration.
    var registration: Int64

    /// The position before every registration.
    static let start = AudiencePosition(channel: .min, registration: .min)
    /// The position after every registration.
    static let end = AudiencePosition(channel: .max, registration: .max)

    /// The first position after this one, within the same channel.
    var next: AudiencePosition { AudiencePosition(channel: channel, registration: registration + 1) }

    @inline(__always)
    static func < (left: AudiencePosition, right: AudiencePosition) -> Bool {
        left.channel < right.channel || (left.channel == right.channel && left.registration < right.registration)
    }
}

extension AudiencePosition {
    init(_ member: AudienceMember) {
        self.init(channel: member.channel.rawValue, registration: member.registration)
    }
}
