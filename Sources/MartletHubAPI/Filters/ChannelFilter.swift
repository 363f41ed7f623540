import MartletCore
import MartletHTTP
import MartletModel

/// A `$filter` that selects the registrations of one handle: `Name eq 'value'`, or several such terms joined by `and`
/// if a handle has several parts (NotificationHubs.md, section 4.9).
struct ChannelFilter: Hashable {
    struct Term: Hashable {
        /// The property's name in lower case, because clients differ in case.
        let name: String
        let value: String
    }

    let terms: [Term]

    /// The name that the .NET and Java clients use for the handle of every platform.
    private static let anyHandle = "channeluri"
    private static let lengthLimit = 8192
    private static let termLimit = 8

    /// - Parameter text: The query value, percent-decoded once.
    init(_ text: String) throws(HubAPIError) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw .badRequest("The $filter is longer than \(Self.lengthLimit) characters")
        }
        var scanner = FilterScanner(text)
        var terms = [try scanner.term()]
        while !scanner.isAtEnd {
            guard terms.count < Self.termLimit, scanner.skipWord("and") else { throw scanner.refusal("'and'") }
            terms.append(try scanner.term())
        }
        self.terms = terms
    }

    /// Returns a filter for each distinct handle that this filter may mean, in the form in which the platforms compare
    /// handles. The result is empty if no platform can have such a handle; then no registration matches.
    func candidates(_ platforms: PushPlatformList) throws(HubAPIError) -> [RegistrationQuery.Filter] {
        var isKnown = false
        var found: [RegistrationQuery.Filter] = []
        var seen: Set<String> = []
        for platform in platforms {
            guard let keys = keys(on: platform) else { continue }
            isKnown = true
            for key in keys {
                let id = platform.descriptor.platform
                guard seen.insert("\(id)\n\(key)").inserted else { continue }
                found.append(.handle(platform: id, key: key))
            }
        }
        guard isKnown else {
            throw .badRequest("The $filter asks for properties that no registration of this server has")
        }
        return found
    }

    /// Returns the keys of the handles that the filter may mean on a platform; nil if the filter does not apply to the
    /// platform.
    private func keys(on platform: any PushPlatform.Type) -> [String]? {
        let elements = platform.descriptor.registration.handleElements.map { $0.lowercased() }
        // The legacy Android client sends both parts of a Baidu handle in one property, joined into a single text
        // (NotificationHubs.md, section 4.9). So a single term with such a name is read as a whole handle.
        if terms.count == 1, [Self.anyHandle, elements.joined(separator: "-")].contains(terms[0].name) {
            return Self.readings(of: [terms[0].value]).compactMap { platform.key(meantBy: $0[0]) }
        }
        guard terms.count == elements.count else { return nil }
        var values: [String] = []
        for element in elements {
            guard let term = terms.first(where: { $0.name == element }) else { return nil }
            values.append(term.value)
        }
        return Self.readings(of: values).compactMap { try? platform.key(of: PushHandle(parts: $0)) }
    }

    /// Returns the values unchanged and, if different, percent-decoded once more, because the JavaScript client encodes
    /// the URLs in a value before it encodes the query (NotificationHubs.md, section 4.9).
    private static func readings(of values: [String]) -> [[String]] {
        let decoded = values.map { PercentEncoding.decode($0) ?? $0 }
        return decoded == values ? [values] : [values, decoded]
    }
}

/// A scanner that reads a filter from left to right.
private struct FilterScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
        skipSpace()
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func term() throws(HubAPIError) -> ChannelFilter.Term {
        let name = word()
        guard !name.isEmpty else { throw refusal("a property") }
        guard skipWord("eq") else { throw refusal("'eq'") }
        guard let value = quoted() else { throw refusal("a value in single quotes") }
        skipSpace()
        return ChannelFilter.Term(name: name.lowercased(), value: value)
    }

    mutating func skipWord(_ wanted: String) -> Bool {
        let start = index
        if word().lowercased() == wanted { return true }
        index = start
        return false
    }

    func refusal(_ expected: String) -> HubAPIError {
        .badRequest("The $filter needs \(expected) at character \(index + 1)")
    }

    private mutating func word() -> String {
        let start = index
        while index < bytes.count, bytes[index] != 0x20, bytes[index] != UInt8(ascii: "'") { index += 1 }
        defer { skipSpace() }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Scans a value in single quotes. Two quotes in a row inside the value stand for one quote. The JavaScript client
    /// omits the first opening quote of a filter for Baidu; the value then contains no spaces (NotificationHubs.md,
    /// section 4.9).
    private mutating func quoted() -> String? {
        let quote = UInt8(ascii: "'")
        guard index < bytes.count else { return nil }
        guard bytes[index] == quote else { return unopened() }
        var value: [UInt8] = []
        var next = index + 1
        while next < bytes.count {
            if bytes[next] == quote {
                guard next + 1 < bytes.count, bytes[next + 1] == quote else {
                    index = next + 1
                    return String(decoding: value, as: UTF8.self)
                }
                next += 1
            }
            value.append(bytes[next])
            next += 1
        }
        return nil
    }

    private mutating func unopened() -> String? {
        let value = bytes[index...].prefix { $0 != UInt8(ascii: "'") && $0 != 0x20 }
        guard !value.isEmpty, value.endIndex < bytes.count, bytes[value.endIndex] != 0x20 else { return nil }
        index = value.endIndex + 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 { index += 1 }
    }
}
