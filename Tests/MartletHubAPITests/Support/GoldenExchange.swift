import Foundation
import MartletHTTP

/// One request with the answer that it must get, read from a golden file.
///
/// A file holds exchanges between lines of `===`; in each, request and answer are divided by a line of `--->`, and a
/// body follows an empty line. `Authorization: @rule` stands for a current token of that rule, with another
/// key than the usual one where one follows. In an answer
/// `«name»` takes whatever is there; in what follows it stands for that. `«_»` is forgotten at once.
struct GoldenExchange: Sendable {
    let name: String
    let request: HTTPRequest
    /// Status line, sorted fields, empty line, body.
    let answer: String

    static func file(_ name: String) throws -> [GoldenExchange] {
        guard let url = Bundle.module.url(forResource: name, withExtension: "http", subdirectory: "Golden") else {
            throw GoldenError.unreadable(name)
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        return try text.components(separatedBy: "\n===\n").map { try GoldenExchange($0) }
    }

    private init(_ text: String) throws {
        let halves = text.components(separatedBy: "\n--->\n")
        guard halves.count == 2 else { throw GoldenError.unreadable(text) }
        var lines = halves[0].split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let title = lines.prefix { $0.hasPrefix("#") }
        lines.removeFirst(title.count)
        name = title.map { $0.dropFirst(2) }.joined(separator: " ")
        let start = lines.removeFirst().split(separator: " ", maxSplits: 1).map(String.init)
        let head = lines.prefix { !$0.isEmpty }
        let body = lines.dropFirst(head.count + 1).joined(separator: "\n")
        var fields = HTTPFields()
        for line in head {
            let pair = line.components(separatedBy: ": ")
            fields.append(HTTPField(pair[0], pair.dropFirst().joined(separator: ": ")))
        }
        let method = HTTPMethod(rawValue: start[0])
        request = HTTPRequest(
            method, start[1], authority: "hub.example:8443", fields: fields, body: Array(body.utf8))
        answer = halves[1].trimmingCharacters(in: .newlines)
    }

    /// The request with what earlier answers gave and with its token.
    func request(_ values: [String: String], in fixture: HubFixture) throws -> HTTPRequest {
        var request = request
        request.target = Self.fill(request.target, values)
        request.body = Array(
            try fixture.withSignedURLs(Self.fill(String(decoding: request.body, as: UTF8.self), values)).utf8)
        request.fields = HTTPFields(request.fields.map { HTTPField($0.name, Self.fill($0.value, values)) })
        if let rule = request.fields["authorization"], rule.hasPrefix("@") {
            let words = rule.dropFirst().split(separator: " ").map(String.init)
            request.fields["authorization"] = try HubFixture.token(
                words[0], key: words.count > 1 ? words[1] : HubFixture.key)
        }
        return request
    }

    /// An answer as golden files write it. The ids that every answer carries are left out.
    static func text(of response: HTTPResponse) -> String {
        let fields = response.fields.filter { !["trackingid", "x-ms-correlation-request-id"].contains($0.name) }
        let lines = ["\(response.status.code)"] + fields.map { "\($0.name): \($0.value)" }.sorted()
        return lines.joined(separator: "\n") + (response.bytes.isEmpty ? "" : "\n\n" + response.text)
    }

    /// Compares an answer with the wanted one and notes what is at its names.
    func matches(_ text: String, noting values: inout [String: String]) -> Bool {
        var rest = Substring(text)
        let parts = answer.components(separatedBy: "«")
        guard rest.hasPrefix(parts[0]) else { return false }
        rest = rest.dropFirst(parts[0].count)
        for part in parts.dropFirst() {
            let pair = part.components(separatedBy: "»")
            let end: Substring.Index
            if pair[1].isEmpty {
                end = rest.endIndex
            } else {
                guard let range = rest.range(of: pair[1]) else { return false }
                end = range.lowerBound
            }
            let value = String(rest[..<end])
            if let known = values[pair[0]], known != value { return false }
            if pair[0] != "_" { values[pair[0]] = value }
            rest = rest[end...].dropFirst(pair[1].count)
        }
        return rest.isEmpty
    }

    private static func fill(_ text: String, _ values: [String: String]) -> String {
        values.reduce(text) { $0.replacingOccurrences(of: "«\($1.key)»", with: $1.value) }
    }
}

enum GoldenError: Error {
    case unreadable(String)
}
