import MartletCore
import MartletCrypto
import MartletModel

/// Creates the signed URLs of a hub's feedback: the URL of the container with all feedback files, and the URL of the
/// file of one notification.
struct FeedbackAddress: Sendable {
    /// The path segment that follows the hub's name in the address of the feedback.
    static let segment = "feedback"

    /// The time for which a signed URL is valid.
    private static let lifetime: Duration = .seconds(86_400)

    let signer: URLSigner
    let time: any TimeSource

    static func fileName(of id: NotificationID) -> String { "\(id).txt" }

    /// Returns the id of the notification to which a feedback file belongs; nil if the file cannot be a feedback file.
    /// - Parameter name: The name of the file, as `fileName` returns it.
    static func notification(ofFile name: some StringProtocol) -> NotificationID? {
        name.hasSuffix(".txt") ? NotificationID(name.dropLast(4)) : nil
    }

    func container(_ call: HubCall) throws(HubAPIError) -> String {
        try call.url(Self.segment) + "?" + query([call.hub.name, Self.segment], .container, [.read, .list])
    }

    func file(of id: NotificationID, _ call: HubCall) throws(HubAPIError) -> String {
        let name = Self.fileName(of: id)
        return try call.url(Self.segment, name) + "?" + query([call.hub.name, Self.segment, name], .blob, .read)
    }

    private func query(
        _ path: [String], _ scope: URLSigner.Scope, _ rights: StorageRights
    ) throws(HubAPIError) -> String {
        do throws(CryptoError) {
            return try signer.query(for: path, scope, rights: rights, until: time.now + Self.lifetime)
        } catch {
            throw .internalError
        }
    }
}
