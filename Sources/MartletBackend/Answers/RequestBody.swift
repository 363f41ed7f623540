import MartletHTTP
import MartletModel

/// Reads bodies: strictly as JSON, but with member names in any case, because callers spell them both ways.
struct RequestBody {
    private let members: [String: JSON]

    /// No body of this API has more levels than an object with an array in it.
    private static let maximumDepth = 4

    /// - Throws: `BackendError` where the body is not one JSON object, or names a member in two spellings.
    init(_ request: HTTPRequest) throws(BackendError) {
        guard case .object(let object) = try Self.json(request) else {
            throw .badBody("The body must be a JSON object.")
        }
        var members: [String: JSON] = [:]
        for (name, value) in object {
            guard members.updateValue(value, forKey: name.lowercased()) == nil else {
                throw .badBody("The body names a member twice.")
            }
        }
        self.members = members
    }

    static func json(_ request: HTTPRequest) throws(BackendError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: request.body, maximumDepth: maximumDepth)
        } catch {
            throw .badBody("The body must be JSON. \(error)")
        }
    }

    /// - Parameter name: As callers know it; compared without case.
    func string(_ name: String) throws(BackendError) -> String {
        guard case .string(let text) = members[name.lowercased()] else {
            throw .badBody("The body needs the member \"\(name)\" with a string.")
        }
        return text
    }

    /// The strings of an array; none where the member is missing or null.
    func strings(_ name: String) throws(BackendError) -> [String] {
        switch members[name.lowercased()] {
        case nil, .null: return []
        case .array(let elements):
            let strings = elements.compactMap(\.string)
            if strings.count == elements.count { return strings }
        default: break
        }
        throw .badBody("The member \"\(name)\" must be an array of strings.")
    }
}
