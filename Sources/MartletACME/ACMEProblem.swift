import MartletModel

/// An error document of a certificate authority (RFC 7807; RFC 8555, section 6.7).
struct ACMEProblem: Hashable, Sendable {
    /// The error type without ACME's prefix, such as `badNonce`.
    let type: String
    /// The authority's error message, as one line for the log.
    let sentence: String

    private static let prefix = "urn:ietf:params:acme:error:"
    private static let lengthLimit = 300
    private static let countLimit = 4

    /// Reads an error document.
    /// - Returns: nil if the document is not an object.
    init?(_ document: JSON?) {
        guard let document, document.object != nil else { return nil }
        let name = document["type"]?.string ?? ""
        type = name.hasPrefix(Self.prefix) ? String(name.dropFirst(Self.prefix.count)) : name
        let parts = (document["subproblems"]?.array ?? []).prefix(Self.countLimit).compactMap { $0["detail"]?.string }
        let details = [document["detail"]?.string].compactMap(\.self) + parts
        sentence = Self.printable(details.isEmpty ? type : details.joined(separator: " "))
    }

    /// Makes an untrusted text safe for log and terminal: one line of limited length without control characters.
    static func printable(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(lengthLimit).map { scalar in
            scalar.properties.isWhitespace ? " " : isPrintable(scalar) ? scalar : "?"
        }
        return String(String.UnicodeScalarView(shown))
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
