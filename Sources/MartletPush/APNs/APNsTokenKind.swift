import MartletCore
import MartletHTTP
import MartletModel

/// What a device token is good for: the one that an app gets for its alerts, or another.
///
/// Anyone who registers a token may say so in front of it, as in `liveactivity:80AB…`. It then gets no message of
/// another kind, and a notification to everybody, or to all that a user has, reaches the tokens that it is for. A token
/// without a mark is sent whatever is sent to it.
enum APNsTokenKind: String, CaseIterable {
    /// Alerts and background pushes.
    case alert
    case voip
    case complication
    case fileprovider
    case mdm
    case location
    /// Starts Live Activities.
    case pushtostart
    /// Updates and ends one Live Activity.
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// What is between the mark and the token.
    static let separator = UInt8(ascii: ":")

    /// Whether a token of the kind is for a push.
    /// - Parameter body: Read only where the push type does not say enough.
    func takes(_ type: String?, body: [UInt8]) -> Bool {
        switch self {
        case .alert: type == rawValue || type == APNsPushType.background.rawValue
        case .pushtostart: type == APNsPushType.liveactivity.rawValue && APNsLiveActivity.event(of: body) == .start
        case .liveactivity: type == rawValue && APNsLiveActivity.event(of: body) != .start
        default: type == rawValue
        }
    }

    /// A handle's mark and its digits; nil for one with a mark that nobody knows.
    static func split(_ text: String) -> (kind: APNsTokenKind?, digits: Substring)? {
        guard let colon = text.utf8.firstIndex(of: separator) else { return (nil, text[...]) }
        guard let kind = APNsTokenKind(rawValue: text[..<colon].lowercased()) else { return nil }
        return (kind, text[text.utf8.index(after: colon)...])
    }

    /// The digits of a handle to which a message goes.
    /// - Throws: `PushServiceError` where the handle is for messages of another kind.
    static func digits(
        of handle: UnsafeBufferPointer<UInt8>, for message: Message, in shared: RequestBatch.Shared
    ) throws(PushServiceError) -> UnsafeBufferPointer<UInt8> {
        // No mark begins with two hexadecimal digits, and next to no handle has one.
        if handle.prefix(2).allSatisfy(APNs.isHexadecimal) { return handle }
        guard let colon = handle.firstIndex(of: separator) else { return handle }
        let mark = String(decoding: handle[..<colon], as: UTF8.self).lowercased()
        guard APNsTokenKind(rawValue: mark)?.takes(shared.fields["apns-push-type"], body: message.body) ?? false else {
            throw PushServiceError(.unsuited, "The device token is for pushes of the kind \(mark) alone.")
        }
        return UnsafeBufferPointer(rebasing: handle[(colon + 1)...])
    }
}
