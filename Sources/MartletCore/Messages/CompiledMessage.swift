import MartletModel

/// A rendered message of one platform and language in which only the values of variables are missing, so that devices
/// with different values can share it.
struct CompiledMessage: Sendable {
    private enum Piece: Sendable {
        case literal(ArraySlice<UInt8>)
        /// A variable, by its name in lower case.
        case value(String)
    }

    private let pieces: [Piece]
    private let fields: [String: String]
    private let format: TemplateFormat
    private let fallbacks: [String: String]

    /// Renders the message once with a marker instead of each variable, and splits the result at the markers. Markers
    /// are random, so that a sender's text cannot contain one, and consist of letters and digits, which no format
    /// escapes.
    init(_ rendering: ComposedRendering, language: Int) throws(ComposedRendering.Failure) {
        let names = rendering.content.variables.sorted()
        let prefix = "v" + String(UInt64.random(in: 1 << 60 ... .max), radix: 16) + "n"
        let marks = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, "\(prefix)\($0.offset)e") })
        let message = try rendering.uncheckedMessage(language: language) { marks[$0] }
        var pieces: [Piece] = []
        var rest = message.body[...]
        while let range = rest.firstRange(of: Array(prefix.utf8)) {
            let number = rest[range.upperBound...].prefix { $0 != UInt8(ascii: "e") }
            guard let index = Int(String(decoding: number, as: UTF8.self)), names.indices.contains(index) else { break }
            pieces.append(.literal(rest[..<range.lowerBound]))
            pieces.append(.value(names[index]))
            rest = rest[number.endIndex...].dropFirst()
        }
        pieces.append(.literal(rest))
        self.pieces = pieces
        fields = message.fields
        format = rendering.platform.descriptor.templateFormat
        let fallbacks = rendering.content.message.variables
        self.fallbacks = Dictionary(fallbacks.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Returns the message for a device.
    /// - Parameter values: The device's values of the variables. The keys are the names of the variables in lower case.
    func message(_ values: [String: String]) -> Message {
        var body: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): body += bytes
            case .value(let name):
                format.appendValue(Array((values[name] ?? fallbacks[name] ?? "").utf8), to: &body)
            }
        }
        return Message(body: body, fields: fields)
    }

    /// The approximate memory of the compiled message, in bytes.
    var memoryBytes: Int {
        pieces.reduce(256) { sum, piece in
            if case .literal(let bytes) = piece { sum + bytes.count + 48 } else { sum + 48 }
        }
    }
}
