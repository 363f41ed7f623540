import MartletHTTP
import MartletModel

/// Reads bodies: strictly as JSON, but with member names in any case, because callers spell them both ways. A member that
/// may be missing may also be null.
struct RequestBody {
    private let members: [String: JSON]
    /// What the members are in, for the sentences of refusals.
    private let index: String

    /// No body of this API has more levels than an object with an array in it.
    private static let maximumDepth = 4

    /// - Throws: `BackendError` where the body is not one JSON object, or names a member in two spellings.
    init(_ request: HTTPRequest) throws(BackendError) {
        try self.init(try Self.json(request), index: "The body")
    }

    /// - Throws: As `init(_:)`.
    init(_ json: JSON) throws(BackendError) {
        try self.init(json, index: "The body")
    }

    /// - Parameter place: What the members are in, as the beginning of a sentence.
    private init(_ json: JSON, index: String) throws(BackendError) {
        guard case .object(let object) = json else { throw .badBody("\(index) must be a JSON object.") }
        self.index = index
        var members: [String: JSON] = [:]
        for (name, value) in object {
            guard members.updateValue(value, forKey: name.lowercased()) == nil else {
                throw .badBody("\(index) names a member twice.")
            }
        }
        self.members = members
    }

    /// A page of another site can make a browser send any other type without asking this server first.
    static func json(
        _ request: HTTPRequest, maximumDepth: Int = Self.maximumDepth
    ) throws(BackendError) -> JSON {
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

    /// - Parameter name: As callers know it; compared without case.
    func string(_ name: String) throws(BackendError) -> String {
        guard let text = try optionalString(name) else {
            throw .badBody("\(index) needs the member \"\(name)\" with a string.")
        }
        return text
    }

    /// The string of a member; nil where it is missing.
    func optionalString(_ name: String) throws(BackendError) -> String? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw .badBody("\(index) needs the member \"\(name)\" with a string.")
        }
    }

    /// The truth value of a member; nil where it is missing.
    func optionalBool(_ name: String) throws(BackendError) -> Bool? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .bool(let value): return value
        default: throw .badBody("The member \"\(name)\" must be true or false.")
        }
    }

    /// The strings of a member that is one string or an array of them; nil where it is missing.
    func optionalStrings(_ name: String) throws(BackendError) -> [String]? {
        switch members[name.lowercased()] {
        case nil, .null: nil
        case .string(let text): [text]
        default: try strings(name)
        }
    }

    /// The whole number of a member; nil where it is missing.
    func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(BackendError) -> Int64? {
        switch members[name.lowercased()] {
        case nil, .null: return nil
        case .integer(let number) where range.contains(number): return number
        default:
            throw .badBody(
                "The member \"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
    }

    /// The objects of an array, each to be read as a body is.
    func objects(_ name: String, count: ClosedRange<Int>) throws(BackendError) -> [RequestBody] {
        guard case .array(let elements) = members[name.lowercased()], count.contains(elements.count) else {
            throw .badBody(
                "\(index) needs the member \"\(name)\" with an array of \(count.lowerBound) to \(count.upperBound) "
                    + "objects.")
        }
        var objects: [RequestBody] = []
        for (number, element) in zip(1..., elements) {
            objects.append(try RequestBody(element, index: "Element \(number) of \"\(name)\""))
        }
        return objects
    }

    /// A refusal of what a member holds.
    /// - Parameter sentence: Goes on after the place, such as `needs …`.
    func refusal(_ sentence: String) -> BackendError { .badBody("\(index) \(sentence)") }

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
