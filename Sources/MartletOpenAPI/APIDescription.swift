public import MartletHTTP
public import MartletModel

/// The description of an API's requests and answers, as an OpenAPI 3.1 document for people and programs
/// (https://spec.openapis.org/oas/v3.1.1).
public struct APIDescription: Sendable {
    public var title: String
    /// The introduction to the API as a whole, in Markdown.
    public var text: String
    /// The version of the API, not of the server.
    public var version: String
    /// The authentication methods, by the names that operations use for them.
    public var securitySchemes: [String: JSON]
    /// The schemas, by the names that `#/components/schemas/NAME` refers to.
    public var schemas: [String: JSON]
    public var groups: [APIGroup]

    public init(
        title: String, text: String, version: String, securitySchemes: [String: JSON], schemas: [String: JSON],
        groups: [APIGroup]
    ) {
        self.title = title
        self.text = text
        self.version = version
        self.securitySchemes = securitySchemes
        self.schemas = schemas
        self.groups = groups
    }

    /// The OpenAPI document.
    public var document: JSON {
        var paths: [String: [String: JSON]] = [:]
        for group in groups {
            for operation in group.operations {
                paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = operation.json(in: group)
            }
        }
        return [
            "openapi": "3.1.0",
            "info": ["title": .string(title), "description": .string(text), "version": .string(version)],
            "tags": .array(groups.map { ["name": .string($0.name), "description": .string($0.text)] }),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": ["securitySchemes": .object(securitySchemes), "schemas": .object(schemas)],
        ]
    }

    /// The names of the operations, in the format of `Router.routeNames`.
    public var routeNames: [String] {
        groups.flatMap(\.operations).map { "\($0.method.rawValue) \($0.pattern)" }
    }

    /// Returns the response that contains the document.
    ///
    /// Callers keep the response and send it for every request, because writing the document takes time.
    public func makeResponse() -> HTTPResponse {
        var response = HTTPResponse(.ok, fields: ["content-type": "application/json"], body: .bytes(document.bytes))
        response.isShared = true
        return response
    }

    /// The answer of the operation that serves the document.
    public static let answer = APIAnswer(.ok, "This document.", .json(["type": "object"]))
}
