public import MartletModel

/// The JSON schemas from which API descriptions are composed.
public enum APISchema {
    public static let text: JSON = ["type": "string"]
    public static let textOrNull: JSON = ["type": ["string", "null"]]
    public static let time: JSON = ["type": "string", "format": "date-time"]
    public static let timeOrNull: JSON = ["type": ["string", "null"], "format": "date-time"]
    public static let flag: JSON = ["type": "boolean"]
    public static let flagOrNull: JSON = ["type": ["boolean", "null"]]
    /// An integer that is not negative.
    public static let count: JSON = ["type": "integer", "minimum": 0]
    public static let countOrNull: JSON = ["type": ["integer", "null"], "minimum": 0]
    /// An object with any members.
    public static let any: JSON = ["type": "object"]
    public static let texts = list(text)

    public static func list(_ items: JSON) -> JSON { ["type": "array", "items": items] }

    public static func map(_ values: JSON) -> JSON { ["type": "object", "additionalProperties": values] }

    public static func words(_ names: String...) -> JSON { ["enum": .array(names.map(JSON.string))] }

    /// Returns a schema with a description. A schema that is not a JSON object is returned unchanged.
    public static func described(_ text: String, _ schema: JSON) -> JSON {
        guard case .object(var members) = schema else { return schema }
        members["description"] = .string(text)
        return .object(members)
    }

    /// Returns the schema of an object. Further members are allowed.
    /// - Parameter optional: The names of the members that may be missing. All others are required.
    public static func object(_ members: [String: JSON], optional: Set<String> = []) -> JSON {
        [
            "type": "object",
            "required": .array(members.keys.filter { !optional.contains($0) }.sorted().map(JSON.string)),
            "properties": .object(members),
        ]
    }

    /// Returns a reference to the schema with this name in `APIDescription.schemas`.
    public static func named(_ name: String) -> JSON { ["$ref": .string("#/components/schemas/\(name)")] }
}
