import MartletHTTP
import MartletModel

/// The body of an answer: the name that the service assigned to a message, or Google's error envelope (PushServices.md,
/// section 2.5).
struct FCMAnswer {
    static let errorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
    static let infoType = "type.googleapis.com/google.rpc.ErrorInfo"
    static let quotaType = "type.googleapis.com/google.rpc.QuotaFailure"
    static let requestType = "type.googleapis.com/google.rpc.BadRequest"

    private static let bodyLimit = 65_536
    private static let detailLimit = 16

    let httpStatus: Int
    /// Whether the body contains the name of a message, which means that the service has accepted the message.
    ///
    /// An answer without a name may come from a proxy.
    let namesMessage: Bool
    /// The value of `error.status`.
    let status: String?
    /// The `errorCode` in the detail `FcmError`: FCM's own error code.
    let code: String?
    /// The `reason` in the detail `ErrorInfo`, which all Google services use.
    let infoReason: String?
    /// Whether the error is caused by the registration token.
    let isAboutToken: Bool
    /// Whether the error says that the message is too large.
    let isAboutSize: Bool
    /// Whether the exceeded quota belongs to one device, not to the project.
    let isAboutDevice: Bool

    init(_ response: HTTPResponse) {
        httpStatus = response.status.code
        let body =
            response.bytes.count <= Self.bodyLimit ? try? JSON(parsing: response.bytes, maximumDepth: 16) : nil
        namesMessage = body?["name"]?.string != nil
        let error = body?["error"]
        let details = (error?["details"]?.array ?? []).prefix(Self.detailLimit)
        func detail(_ type: String) -> JSON? { details.first { $0["@type"]?.string == type } }
        status = AnswerWord.checked(error?["status"]?.string)
        code = AnswerWord.checked(detail(Self.errorType)?["errorCode"]?.string)
        infoReason = AnswerWord.checked(detail(Self.infoType)?["reason"]?.string)
        let text = error?["message"]?.string?.lowercased() ?? ""
        let fields = detail(Self.requestType)?["fieldViolations"]?.array?.prefix(Self.detailLimit) ?? []
        isAboutToken =
            text.contains("registration token") || fields.contains { $0["field"]?.string == "message.token" }
        isAboutSize = text.contains("too big") || text.contains("too large")
        let violations = detail(Self.quotaType)?["violations"]?.array?.prefix(Self.detailLimit) ?? []
        isAboutDevice = violations.contains { violation in
            [violation["subject"], violation["description"]].contains { text in
                text?.string?.lowercased().contains("device") ?? false
            }
        }
    }

    /// The most specific description of the error that the service gives.
    var reason: String { code ?? infoReason ?? status ?? "status \(httpStatus)" }
}
