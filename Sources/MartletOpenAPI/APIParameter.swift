public import MartletModel

/// A parameter of a request outside its body, or a header of an answer.
public struct APIParameter: Sendable {
    public enum Location: String, Sendable {
        case path, query, header
    }

    public var location: Location
    public var name: String
    public var text: String
    public var schema: JSON
    /// True if the parameter is required. A path parameter is always required.
    public var isRequired: Bool

    public init(
        _ location: Location, _ name: String, _ text: String = "", schema: JSON = ["type": "string"],
        isRequired: Bool = false
    ) {
        self.location = location
        self.name = name
        self.text = text
        self.schema = schema
        self.isRequired = isRequired || location == .path
    }

    var json: JSON {
        var members: [String: JSON] = [
            "name": .string(name), "in": .string(location.rawValue), "required": .bool(isRequired), "schema": schema,
        ]
        if !text.isEmpty { members["description"] = .string(text) }
        // Allows a query flag without a value.
        if location == .query { members["allowEmptyValue"] = true }
        return .object(members)
    }

    /// The parameter described as a header of an answer. The name is omitted, because it is the key under which this
    /// object is stored.
    var headerJSON: JSON { ["description": .string(text), "required": .bool(isRequired), "schema": schema] }
}
