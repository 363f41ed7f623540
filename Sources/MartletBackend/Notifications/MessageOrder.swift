import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The checked body of a request that sends a composed message from one user to others: `{"to": ["alice"], "message":
/// {…}}`.
struct MessageOrder: Sendable {
    let audience: SendAudience
    let content: ComposedContent

    /// The maximum nesting depth of the body, which contains a message one level below its top.
    private static let depthLimit = 33

    /// The members that users without the role `admin` may set. A link or a picture from a stranger could mislead the
    /// recipient, and a collapse key could replace messages of other senders.
    private static let membersOfAll: Set<String> = ["text", "language", "data", "thread"]

    /// The names of data members that push services, systems and web pages are known to interpret, in lower case and
    /// without underscores. Users without the role `admin` may not set these members either, because they could mislead
    /// the recipient.
    private static let namesOfBait: Set<String> = [
        "actionurl", "alert", "androidchannelid", "attachment", "attachmenturl", "body", "category", "channelid",
        "clickaction", "collapsekey", "color", "contentavailable", "deeplink", "fcmoptions", "href", "icon", "iconurl",
        "image", "imageurl", "intent", "launch", "launchurl", "mediaurl", "mutablecontent", "openurl", "photo",
        "priority",
        "redirect", "redirecturl", "renotify", "requireinteraction", "silent", "tag", "target", "targeturl", "uri",
        "url",
        "vibrate", "weburl",
    ]

    private static func isBait(_ name: String) -> Bool {
        namesOfBait.contains(name.lowercased().filter { $0 != "_" })
    }

    init(_ request: HTTPRequest, from sender: Caller) throws(BackendError) {
        let json = try RequestBody.json(request, maximumDepth: Self.depthLimit)
        guard case .object(let members) = json else { throw .badBody("The body must be a JSON object.") }
        if let other = members.keys.filter({ !["to", "tags", "message"].contains($0) }).min() {
            throw .badBody("The body has the unknown member '\(other.prefix(64))'.")
        }
        let body = try RequestBody(.object(members.filter { $0.key != "message" }))
        audience = try SendAudience(
            users: try body.optionalStrings("to"), tags: try body.optionalString("tags"), from: sender.name)
        guard case .object(let message)? = members["message"] else {
            throw .badBody("The body needs the member \"message\" with a JSON object.")
        }
        content = try Self.content(message, from: sender)
    }

    private static func content(_ message: [String: JSON], from sender: Caller) throws(BackendError) -> ComposedContent
    {
        var message = message
        if !sender.roles.contains(RolePolicy.admin) {
            if let other = message.keys.filter({ !membersOfAll.contains($0) }).min() {
                throw .onlyAdmins(maySet: String(other.prefix(64)))
            }
            if let name = message["data"]?.object?.keys.filter(isBait).min() {
                throw .onlyAdmins(maySet: "data.\(name.prefix(64))")
            }
            message["title"] = .string(sender.name.description)
        } else if message["title"] == nil, message["silent"] != true {
            message["title"] = .string(sender.name.description)
        }
        do throws(ComposedMessageError) {
            return try ComposedContent(JSON.object(message).bytes)
        } catch {
            throw error.isTooLarge ? .messageTooLarge(error.description) : .badMessage(error.description)
        }
    }

    /// The whole content of the request, from which the request's digest is computed.
    var digest: DigestInput {
        var digest = audience.content
        digest.append(content.body)
        return digest
    }
}
