import MartletCrypto
import MartletModel

extension SendAudience {
    /// The maximum number of users in one request.
    static let userLimit = 100
    static let wrongCount = BackendError.badRecipients("A request names 1 to \(userLimit) recipients.")
    /// The maximum number of tags in an expression that only uses `||`.
    private static let usersInExpression = TagExpression.Limits().tagsInUnion

    /// Reads the recipients of a request.
    /// - Parameters:
    ///   - users: User names as they were written; nil if the request names none.
    ///   - tags: A tag expression.
    ///   - sender: The sender, who is the recipient if the request names none.
    init(users: [String]?, tags: String?, from sender: UserName) throws(BackendError) {
        guard let tags else {
            self = .users(try Self.names(users, or: sender))
            return
        }
        guard users == nil else {
            throw .badRecipients("Name users with \"to\" or an expression with \"tags\", not both.")
        }
        do throws(TagExpressionError) {
            self = .tags(try TagExpression(tags))
        } catch {
            throw .badRecipients(error.description)
        }
    }

    private static func names(_ texts: [String]?, or sender: UserName) throws(BackendError) -> [UserName] {
        guard let texts else { return [sender] }
        guard (1...userLimit).contains(texts.count) else { throw wrongCount }
        var names: [UserName] = []
        for text in texts {
            do throws(UserNameError) {
                let name = try UserName(text)
                if !names.contains(name) { names.append(name) }
            } catch {
                throw .badRecipients("Every recipient must be one user's name. \(error)")
            }
        }
        return names
    }

    /// The recipients as a part of the content from which a request's digest is computed.
    var content: DigestInput {
        var content = DigestInput()
        switch self {
        case .users: content.append("users")
        case .tags: content.append("tags")
        }
        for expression in expressions { content.append(expression.description) }
        content.append("")
        return content
    }

    /// The tag expressions that match the audience. There are several if a single expression would have too many tags.
    var expressions: [TagExpression] {
        switch self {
        case .tags(let expression): [expression]
        case .users(let users):
            stride(from: 0, to: users.count, by: Self.usersInExpression).map { start in
                let tags = users[start...].prefix(Self.usersInExpression).map { TagExpression.tag($0.tag) }
                return tags.count == 1 ? tags[0] : .or(tags)
            }
        }
    }
}
