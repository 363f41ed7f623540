import MartletCore
import MartletModel

/// A push that a push service refused, as a line of a feedback file. The elements must be complete and in this order
/// (NotificationHubs.md, section 8.5).
struct FeedbackLine {
    let record: RefusalRecord
    let notification: NotificationID

    /// The line, including its line break.
    var bytes: [UInt8] {
        var writer = XMLWriter(reserving: 512)
        writer.element("PnsFeedback", ["xmlns": XMLNamespace.service]) { line in
            line.element("FeedbackTime", text: record.at.iso8601)
            line.element("NotificationSystemError", text: record.outcome.rawValue)
            line.element("Platform", text: record.platform.rawValue)
            // Only the first part of the handle is written. Written as one text, a handle of several parts would
            // contain line breaks, but each line of the file must be a whole document.
            line.element("PnsHandle", text: record.handle?.parts.first ?? "")
            line.element("RegistrationId", text: record.registration ?? "")
            line.element("InstallationId", text: record.installation ?? "")
            line.element("NotificationId", text: notification.description)
            line.element("NewPnsHandle", text: "")
        }
        return writer.bytes + "\r\n".utf8
    }
}
