import MartletHTTP
import MartletModel

/// A reader for the members of a JSON body. Member names are compared case-insensitively, because callers spell them in
/// different ways. A member that may be missing may also be null.
struct RequestBody {
    private let members: [String: JSON]
    /// The name of the object that contains the members, such as `The body`. The sentence of a refusal begins with it.
    private let subject: String

    /// The maximum nesting depth of a body. The deepest body that is read with this limit is an object with an array of
    /// objects.
    private static let maximumDepth = 4

    /// Reads the body of a request.
    /// - Throws: `BackendError` if the body is not a single JSON object, or contains the same member in two spellings.
    init(_ request: HTTPRequest) throws(BackendError) {
        try self.init(try Self.json(request), subject: "The body")
    }

    /// Reads a JSON value.
    /// - Throws: `BackendError` if the value is not an object, or contains the same member in two spellings.
    init(_ json: JSON) throws(BackendError) {
        try self.init(json, subject: "The body")
    }

    /// Reads a JSON value, which refusals call `subject`.
    /// - Parameter subject: The name of the JSON value. The sentence of a refusal begins with it.
    private init(_ json: JSON, subject: String) throws(BackendError) {
        guard case .object(let object) = json else { throw .badBody("\(subject) must be a JSON object.") }
        self.subject = subject
        var members: [String: JSON] = [:]
        for (name, value) in object {
            guard members.updateValue(value, forKey: name.lowercased()) == nil else {
                throw .badBody("\(subject) names a member twice.")
            }
        }
        self.members = members
    }

    /// Refuses a body with a content coding, because the server does not decompress bodies.
    static func refuseEncoded(_ request: HTTPRequest) throws(BackendError) {
        guard (request.fields["content-encoding"] ?? "identity").lowercased() == "identity" else { throw .encodedBody }
    }

    /// Parses the body of a request whose content type is JSON, or is missing. Other types are refused, because a page
    /// of another site can make a browser send them without asking this server first.
    static func json(
        _ request: HTTPRequest, maximumDepth: Int = Self.maximumDepth
    ) throws(BackendError) -> JSON {
        try refuseEncoded(request)
        guard request.fields.values(of: "content-type").allSatisfy(isJSON) else { throw .notJSON }
        do throws(JSONError) {
            return try JSON(parsing: request.body, maximumDepth: maximumDepth)
        } catch {
            throw .badBody("The body must be JSON. \(error)")
        }
    }

    private static func isJSON(_ type: String) -> Bool {
        guard let type = HeaderParameters(type)?.value else { return false }
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// Returns the string of a required member.
    /// - Parameter name: The name in its usual spelling; it is compared case-insensitively.
    func string(_ name: String) throws(BackendError) -> String {
        guard let text = try optionalString(name) else {
            throw .badBody("\(subject) needs the member \"\(name)\" with a string.")
        }
        return text
    }

    /// Returns the string of a member; nil if the member is missing.
    func optionalString(_ name: String) throws(BackendError) -> String? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw .badBody("\(subject) needs the member \"\(name)\" with a string.")
        }
    }

    /// Returns the Boolean of a member; nil if the member is missing.
    func optionalBool(_ name: String) throws(BackendError) -> Bool? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .bool(let value): return value
        default: throw .badBody("The member \"\(name)\" must be true or false.")
        }
    }

    /// Returns the strings of a member that is a string or an array of strings; nil if the member is missing.
    func optionalStrings(_ name: String) throws(BackendError) -> [String]? {
        switch members[name.lowercased()] {
        case nil, .null: nil
        case .string(let text): [text]
        default: try strings(name)
        }
    }

    /// Returns the whole number of a member; nil if the member is missing.
    func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(BackendError) -> Int64? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .integer(let number) where range.contains(number): return number
        default:
            throw .badBody(
                "The member \"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
    }

    /// Returns the objects in the array of a required member, each as a reader for the members of the object.
    func objects(_ name: String, count: ClosedRange<Int>) throws(BackendError) -> [RequestBody] {
        guard case .array(let elements) = members[name.lowercased()], count.contains(elements.count) else {
            throw .badBody(
                "\(subject) needs the member \"\(name)\" with an array of \(count.lowerBound) to \(count.upperBound) "
                    + "objects.")
        }
        var objects: [RequestBody] = []
        for (number, element) in zip(1..., elements) {
            objects.append(try RequestBody(element, subject: "Element \(number) of \"\(name)\""))
        }
        return objects
    }

    /// Returns the refusal of the object that contains the members.
    /// - Parameter sentence: The rest of the sentence after the name of the object, such as `needs …`.
    func refusal(_ sentence: String) -> BackendError { .badBody("\(subject) \(sentence)") }

    /// Returns the strings in the array of a member; an empty array if the member is missing or null.
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
