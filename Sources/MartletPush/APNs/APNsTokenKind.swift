import MartletCore
import MartletHTTP
import MartletModel

/// The kind of pushes that a device token is for.
///
/// The client that registers a token may state the token's kind in a prefix, as in `liveactivity:80AB…`. The token then
/// gets only messages of that kind. So a broadcast, or a notification to all devices of a user, reaches only tokens of
/// the matching kind. A token without a prefix gets every message that is sent to it.
enum APNsTokenKind: String, CaseIterable {
    /// A token for alerts and background pushes.
    case alert
    case voip
    case complication
    case fileprovider
    case mdm
    case location
    /// A token for starting Live Activities.
    case pushtostart
    /// A token for updating and ending one particular Live Activity.
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// The separator between the prefix and the token.
    static let separator = UInt8(ascii: ":")

    /// Returns whether a push of the given type may be sent to a token of this kind.
    /// - Parameter body: The payload, which is read only if the push type is not sufficient to decide.
    func takes(_ type: String?, body: [UInt8]) -> Bool {
        switch self {
        case .alert: type == rawValue || type == APNsPushType.background.rawValue
        case .pushtostart: type == APNsPushType.liveactivity.rawValue && APNsLiveActivity.event(of: body) == .start
        case .liveactivity: type == rawValue && APNsLiveActivity.event(of: body) != .start
        default: type == rawValue
        }
    }

    /// Splits a handle into the kind that its prefix names, and the digits after the prefix.
    /// - Returns: The kind, which is nil if there is no prefix, and the digits; nil if the prefix does not name a known
    ///   kind.
    static func split(_ text: String) -> (kind: APNsTokenKind?, digits: Substring)? {
        guard let colon = text.utf8.firstIndex(of: separator) else { return (nil, text[...]) }
        guard let kind = APNsTokenKind(rawValue: text[..<colon].lowercased()) else { return nil }
        return (kind, text[text.utf8.index(after: colon)...])
    }

    /// Returns the digits of the handle that a message is sent to.
    /// - Throws: `PushServiceError` if the handle is for messages of another kind.
    static func digits(
        of handle: UnsafeBufferPointer<UInt8>, for message: Message, in shared: RequestBatch.Shared
    ) throws(PushServiceError) -> UnsafeBufferPointer<UInt8> {
        // A handle that begins with two hexadecimal digits has no prefix, because no kind begins with two such digits.
        // This check is fast, and it is true for nearly all handles.
        if handle.prefix(2).allSatisfy(APNs.isHexadecimal) { return handle }
        guard let colon = handle.firstIndex(of: separator) else { return handle }
        let mark = String(decoding: handle[..<colon], as: UTF8.self).lowercased()
        guard APNsTokenKind(rawValue: mark)?.takes(shared.fields["apns-push-type"], body: message.body) ?? false else {
            throw PushServiceError(.unsuited, "The device token is for pushes of the kind \(mark) alone.")
        }
        return UnsafeBufferPointer(rebasing: handle[(colon + 1)...])
    }
}
